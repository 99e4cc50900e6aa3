/* SPDX-License-Identifier: BSD-3-Clause
 *
 * split-c.hpp - Split-C's global address space in C++17; <split-c/split-c.h> includes it there.
 *
 *   Split-C                      C++
 *   T *global g                  splitc::global<T> g
 *   T *spread s                  splitc::spread<T> s
 *   x = *g; *g = x; g[i] += x    the same
 *   g->field = x                 g->*&S::field = x
 *   &g->field                    g.member(&S::field)
 *   x := *g; *g := x; *g :- x    splitc::get(x, g); put(g, x); store(g, x)
 *   tolocal(g), toproc(g)        g.local(), g.proc()
 *   toglobal(proc, address)      splitc::global<T>(proc, address)
 *
 * Both classes are represented as splitcc represents the pointers, and so may be passed to and from
 * functions written in Split-C, and stand in structs of both.  Objects are trivially copyable.
 * The library's calls are in namespace splitc, under their names and with the meaning that
 * docs/language.md gives; sizes of bulk transfers are in bytes.  A program whose splitc_main is
 * C++ defines `int splitc_main(int argc, char **argv)`.
 */
#ifndef SPLITC_SPLIT_C_HPP
#define SPLITC_SPLIT_C_HPP

#if __cplusplus < 201703L
#error "<split-c/split-c.h> in C++ takes C++17 or later: add -std=c++17"
#endif

#include <cstddef>
#include <split-c/abi.h>
#include <split-c/reductions.h>
#include <type_traits>

extern "C" {
int splitc_main(int argc, char **argv);

/* What the runtime calls; splitcc emits another beside a splitc_main in Split-C. */
__attribute__((weak)) int splitc_entry(int argc, char **argv)
{
    return splitc_main(argc, argv);
}

[[noreturn]] void splitc_exit(int code);
void splitc_poll(void);
double splitc_get_seconds(void);
void splitc_barrier(void);
void splitc_sync(void);
int splitc_is_sync(void);
void splitc_store_sync(long bytes);
int splitc_is_store_sync(long bytes);
void splitc_reset_store_sync(void);
void splitc_all_store_sync(void);
splitc_ptr splitc_all_spread_malloc(long count, long bytes);
void splitc_all_spread_free(splitc_ptr base);
void splitc_bulk_read(void *to, splitc_ptr from, long bytes);
void splitc_bulk_write(splitc_ptr to, const void *from, long bytes);
void splitc_bulk_get(void *to, splitc_ptr from, long bytes);
void splitc_bulk_put(splitc_ptr to, const void *from, long bytes);
void splitc_bulk_store(splitc_ptr to, const void *from, long bytes);
int splitc_fetch_add(splitc_ptr object, int value);
int splitc_exchange(splitc_ptr object, int value);
int splitc_cmp_and_swap(splitc_ptr object, int expected, int desired);
int splitc_test_and_set(splitc_ptr object);
long splitc_fetch_add_l(splitc_ptr object, long value);
long splitc_exchange_l(splitc_ptr object, long value);
long splitc_cmp_and_swap_l(splitc_ptr object, long expected, long desired);
void splitc_lock(splitc_ptr lock);
int splitc_trylock(splitc_ptr lock);
void splitc_unlock(splitc_ptr lock);
#define SPLITC_DECLARE_REDUCTIONS(name, type, how)                                                 \
    type splitc_all_reduce_to_all_##name(type value);                                              \
    type splitc_all_reduce_to_one_##name(type value);                                              \
    type splitc_all_scan_##name(type value);
SPLITC_REDUCTIONS(SPLITC_DECLARE_REDUCTIONS)
#undef SPLITC_DECLARE_REDUCTIONS
#define SPLITC_DECLARE_BROADCAST(letter, type) type splitc_all_bcast_##letter(type value);
SPLITC_VALUES(SPLITC_DECLARE_BROADCAST)
#undef SPLITC_DECLARE_BROADCAST
}

namespace splitc {

template <class T> class global;
template <class T> class spread;

/* ---- objects behind pointers ---------------------------------------------------------- */

/* Room for an object that is to be copied into it byte by byte. */
template <class T> union slot {
    static_assert(std::is_trivially_copyable_v<T>,
                  "objects that travel between processors are trivially copyable");
    slot() {}
    T value;
};

/* What *g is: reading it reads the object, assigning to it writes it.  Both block. */
template <class T> class reference {
public:
    using value_type = std::remove_cv_t<T>;

    explicit reference(splitc_ptr word) : word_(word) {}
    reference(const reference &) = default;

    operator value_type() const
    {
        slot<value_type> to;

        splitc_read(&to.value, word_, sizeof(T));
        return to.value;
    }

    const reference &operator=(const value_type &value) const
    {
        static_assert(!std::is_const_v<T>, "the object is const");
        splitc_write(word_, &value, sizeof(T));
        return *this;
    }
    const reference &operator=(const reference &other) const
    {
        return *this = static_cast<value_type>(other);
    }

    /* A read, and a write: others may write in between, as in Split-C. */
    template <class V> const reference &operator+=(const V &v) const { return *this = *this + v; }
    template <class V> const reference &operator-=(const V &v) const { return *this = *this - v; }
    template <class V> const reference &operator*=(const V &v) const { return *this = *this * v; }
    template <class V> const reference &operator/=(const V &v) const { return *this = *this / v; }

    global<T> operator&() const { return global<T>::from_word(word_); }

private:
    splitc_ptr word_;
};

/* ---- pointers ---------------------------------------------------------------------------- */

/* What both kinds have; they differ in their arithmetic. */
class pointer {
public:
    splitc_ptr word() const { return word_; }
    explicit operator bool() const { return word_ != 0; }

    /* The processor that owns the object. */
    int proc() const { return splitc_rank(word_); }

protected:
    constexpr pointer() : word_(0) {}
    constexpr explicit pointer(splitc_ptr word) : word_(word) {}

    splitc_ptr word_;
};

/* A pointer to anything, for bulk transfers; global<const void> does not let write. */
template <> class global<const void> : public pointer {
public:
    template <class T> global(global<T> g) : pointer(g.word()) {}
    template <class T> global(spread<T> s) : pointer(s.word()) {}
    explicit global(splitc_ptr word) : pointer(word) {}
};

template <> class global<void> : public pointer {
public:
    template <class T, class = std::enable_if_t<!std::is_const_v<T>>>
    global(global<T> g) : pointer(g.word())
    {
    }
    template <class T, class = std::enable_if_t<!std::is_const_v<T>>>
    global(spread<T> s) : pointer(s.word())
    {
    }
    explicit global(splitc_ptr word) : pointer(word) {}
};

/* A global pointer: arithmetic stays with the processor. */
template <class T> class global : public pointer {
public:
    using element = T;

    constexpr global() = default;
    constexpr global(std::nullptr_t) {}

    /* Of this processor's object; NULL stays NULL. */
    global(T *local) : pointer(splitc_from_local(local)) {}

    global(int proc, T *address) : pointer(splitc_make(proc, address)) {}

    /* A spread pointer's object; a pointer to const of one to an object that is not. */
    explicit global(spread<T> s) : pointer(s.word()) {}
    template <class U, class = std::enable_if_t<std::is_same_v<const U, T>>>
    global(global<U> g) : pointer(g.word())
    {
    }

    static global from_word(splitc_ptr word)
    {
        global g;

        g.word_ = word;
        return g;
    }

    /* The address part, the processor dropped. */
    T *local() const { return static_cast<T *>(splitc_address(word_)); }

    auto operator*() const
    {
        if constexpr (std::is_array_v<T>)
            return global<std::remove_extent_t<T>>::from_word(word_);
        else
            return reference<T>(word_);
    }
    auto operator[](long n) const { return *(*this + n); }

    /* Of a struct: a pointer to a field, and the field. */
    template <class F, class S> auto member(F S::*field) const
    {
        using object = std::conditional_t<std::is_const_v<T>, const F, F>;

        static_assert(std::is_same_v<S, std::remove_cv_t<T>>, "a field of another struct");
        return global<object>::from_word(word_ + offset_of(field));
    }
    template <class F, class S> auto operator->*(F S::*field) const { return *member(field); }

    global operator+(long n) const { return from_word(word_ + (splitc_ptr)n * sizeof(T)); }
    global operator-(long n) const { return *this + -n; }
    global &operator+=(long n) { return *this = *this + n; }
    global &operator-=(long n) { return *this = *this - n; }
    global &operator++() { return *this += 1; }
    global &operator--() { return *this -= 1; }
    global operator++(int)
    {
        const global old = *this;

        ++*this;
        return old;
    }
    global operator--(int)
    {
        const global old = *this;

        --*this;
        return old;
    }

    /* Elements between two of one processor. */
    friend long operator-(global a, global b)
    {
        return (long)(a.word_ - b.word_) / (long)sizeof(T);
    }
    friend bool operator==(global a, global b) { return a.word_ == b.word_; }
    friend bool operator!=(global a, global b) { return a.word_ != b.word_; }
    friend bool operator<(global a, global b) { return a.word_ < b.word_; }

private:
    template <class F, class S> static splitc_ptr offset_of(F S::*field)
    {
        const S *const some = reinterpret_cast<const S *>(alignof(S) * 64);

        return (splitc_ptr) & (some->*field) - (splitc_ptr)some;
    }
};

/* A spread pointer: the next element is the next processor's. */
template <class T> class spread : public pointer {
public:
    using element = T;

    constexpr spread() = default;
    constexpr spread(std::nullptr_t) {}
    spread(int proc, T *address) : pointer(splitc_make(proc, address)) {}

    static spread from_word(splitc_ptr word)
    {
        spread s;

        s.word_ = word;
        return s;
    }

    T *local() const { return static_cast<T *>(splitc_address(word_)); }

    auto operator*() const { return *global<T>(*this); }
    auto operator[](long n) const { return *(*this + n); }

    spread operator+(long n) const { return from_word(splitc_spread_add(word_, n, sizeof(T))); }
    spread operator-(long n) const { return *this + -n; }
    spread &operator+=(long n) { return *this = *this + n; }
    spread &operator-=(long n) { return *this = *this - n; }
    spread &operator++() { return *this += 1; }
    spread &operator--() { return *this -= 1; }

    friend long operator-(spread a, spread b)
    {
        return splitc_spread_diff(a.word_, b.word_, sizeof(T));
    }
    friend bool operator==(spread a, spread b) { return a.word_ == b.word_; }
    friend bool operator!=(spread a, spread b) { return a.word_ != b.word_; }
    friend bool operator<(spread a, spread b)
    {
        return splitc_spread_order(a.word_) < splitc_spread_order(b.word_);
    }
};

static_assert(sizeof(global<char>) == sizeof(splitc_ptr) &&
              std::is_trivially_copyable_v<global<char>> &&
              std::is_trivially_copyable_v<spread<char>>);

/* ---- split-phase accesses -------------------------------------------------------------- */

/* x := *g: `to` is filled at sync(). */
template <class T> void get(std::remove_const_t<T> &to, global<T> from)
{
    static_assert(std::is_trivially_copyable_v<T>);
    splitc_get(&to, from.word(), sizeof(T));
}

/* *g := x: complete at sync(). */
template <class T> void put(global<T> to, const std::common_type_t<T> &value)
{
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    splitc_put(to.word(), &value, sizeof(T));
}

/* *g :- x: counted at the owner, whose store_sync() waits for it. */
template <class T> void store(global<T> to, const std::common_type_t<T> &value)
{
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
    splitc_store(to.word(), &value, sizeof(T));
}

/* ---- the library ------------------------------------------------------------------------ */

[[noreturn]] inline void exit(int code)
{
    splitc_exit(code);
}
inline void poll()
{
    splitc_poll();
}
inline double get_seconds()
{
    return splitc_get_seconds();
}

inline void barrier()
{
    splitc_barrier();
}
inline void sync()
{
    splitc_sync();
}
inline bool is_sync()
{
    return splitc_is_sync();
}
inline void store_sync(long bytes)
{
    splitc_store_sync(bytes);
}
inline bool is_store_sync(long bytes)
{
    return splitc_is_store_sync(bytes);
}
inline void reset_store_sync()
{
    splitc_reset_store_sync();
}
inline void all_store_sync()
{
    splitc_all_store_sync();
}

inline void bulk_read(void *to, global<const void> from, long bytes)
{
    splitc_bulk_read(to, from.word(), bytes);
}
inline void bulk_write(global<void> to, const void *from, long bytes)
{
    splitc_bulk_write(to.word(), from, bytes);
}
inline void bulk_get(void *to, global<const void> from, long bytes)
{
    splitc_bulk_get(to, from.word(), bytes);
}
inline void bulk_put(global<void> to, const void *from, long bytes)
{
    splitc_bulk_put(to.word(), from, bytes);
}
inline void bulk_store(global<void> to, const void *from, long bytes)
{
    splitc_bulk_store(to.word(), from, bytes);
}

/* Collective: `count` objects, the next one always the next processor's. */
template <class T> spread<T> all_spread_malloc(long count)
{
    static_assert(std::is_trivially_copyable_v<T>);
    return spread<T>::from_word(splitc_all_spread_malloc(count, sizeof(T)));
}
template <class T> void all_spread_free(spread<T> base)
{
    splitc_all_spread_free(base.word());
}

inline int fetch_add(global<int> g, int value)
{
    return splitc_fetch_add(g.word(), value);
}
inline int exchange(global<int> g, int value)
{
    return splitc_exchange(g.word(), value);
}
inline int cmp_and_swap(global<int> g, int expected, int desired)
{
    return splitc_cmp_and_swap(g.word(), expected, desired);
}
inline int test_and_set(global<int> g)
{
    return splitc_test_and_set(g.word());
}
inline long fetch_add(global<long> g, long value)
{
    return splitc_fetch_add_l(g.word(), value);
}
inline long exchange(global<long> g, long value)
{
    return splitc_exchange_l(g.word(), value);
}
inline long cmp_and_swap(global<long> g, long expected, long desired)
{
    return splitc_cmp_and_swap_l(g.word(), expected, desired);
}

inline void lock(global<int> l)
{
    splitc_lock(l.word());
}
inline bool trylock(global<int> l)
{
    return splitc_trylock(l.word());
}
inline void unlock(global<int> l)
{
    splitc_unlock(l.word());
}

#define SPLITC_DEFINE_REDUCTIONS(name, type, how)                                                  \
    inline type all_reduce_to_all_##name(type v)                                                   \
    {                                                                                              \
        return splitc_all_reduce_to_all_##name(v);                                                 \
    }                                                                                              \
    inline type all_reduce_to_one_##name(type v)                                                   \
    {                                                                                              \
        return splitc_all_reduce_to_one_##name(v);                                                 \
    }                                                                                              \
    inline type all_scan_##name(type v)                                                            \
    {                                                                                              \
        return splitc_all_scan_##name(v);                                                          \
    }
SPLITC_REDUCTIONS(SPLITC_DEFINE_REDUCTIONS)
#undef SPLITC_DEFINE_REDUCTIONS

/* Processor 0's value, everywhere. */
#define SPLITC_DEFINE_BROADCAST(letter, type)                                                      \
    inline type all_bcast_##letter(type v)                                                         \
    {                                                                                              \
        return splitc_all_bcast_##letter(v);                                                       \
    }
SPLITC_VALUES(SPLITC_DEFINE_BROADCAST)
#undef SPLITC_DEFINE_BROADCAST

} // namespace splitc

#endif
