/* SPDX-License-Identifier: BSD-3-Clause
 *
 * abi.h - what C code emitted by splitcc calls.
 *
 * Emitted code includes this header and nothing else of ours, after the
 * preprocessor has run.  It therefore includes no header, uses only names that
 * begin with splitc_, and compiles as gnu89 to gnu17 with gcc and clang.
 *
 * A global or spread pointer is a 64-bit integer, rank in the top 16 bits and
 * virtual address in the low 48; 0 is NULL.  Both kinds look the same and
 * differ in their arithmetic.
 */
#ifndef SPLITC_ABI_H
#define SPLITC_ABI_H

#define SPLITC_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long splitc_ptr;
typedef splitc_ptr splitc_global, splitc_spread; /* as debuggers see them (gdb.py) */
typedef unsigned long splitc_size;

#define SPLITC_ADDRESS_BITS 48
#define SPLITC_ADDRESS_MASK 0xfffffffffffful

/* Who we are; constant from before splitc_main on, and known to the C compiler as such. */
struct splitc_job {
    int myproc;
    int procs;
    int procslog; /* log2 of procs; negative when procs is no power of two */
};
extern const struct splitc_job splitc_job;

/* Where the runtime begins the program, which splitcc makes of splitc_main; also of one that is
 * compiled with -fwhole-program. */
#ifndef __clang__
extern int splitc_entry(int argc, char **argv) __attribute__((externally_visible));
#endif

#ifndef __ATOMIC_RELEASE /* with -undef */
#define __ATOMIC_ACQUIRE 2
#define __ATOMIC_RELEASE 3
#endif

#define SPLITC_INLINE static __inline__ __attribute__((always_inline, unused))

/* For splitcc: whether a definition can be made weak behind the C compiler's back,
 * by the assembler, and so still be inlined. */
#ifdef __clang__
enum { splitc_asm_weak = 0 };
#else
enum { splitc_asm_weak = 1 };
#endif

/* ... whether `extern inline` has GNU's meaning of old, and defines nothing for the linker; */
#ifdef __GNUC_GNU_INLINE__
enum { splitc_gnu_inline = 1 };
#else
enum { splitc_gnu_inline = 0 };
#endif

/* ... and whether messages count columns of the display unless told to count bytes. */
#if !defined __clang__ && __GNUC__ >= 11
enum { splitc_display_columns = 1 };
#else
enum { splitc_display_columns = 0 };
#endif

/* ---- making and taking apart ------------------------------------------ */

/* The object is not looked at, so it may have no value yet. */
#if defined __has_attribute && !defined __clang__
#if __has_attribute(access)
#define SPLITC_ADDRESS_ONLY(parameter) __attribute__((access(none, parameter)))
#endif
#endif
#ifndef SPLITC_ADDRESS_ONLY
#define SPLITC_ADDRESS_ONLY(parameter)
#endif

SPLITC_ADDRESS_ONLY(2)
SPLITC_INLINE splitc_ptr splitc_make(int rank, const volatile void *address)
{
    return (splitc_ptr)(unsigned short)rank << SPLITC_ADDRESS_BITS |
           ((splitc_ptr)address & SPLITC_ADDRESS_MASK);
}

SPLITC_INLINE int splitc_rank(splitc_ptr g)
{
    return (int)(g >> SPLITC_ADDRESS_BITS);
}

/* The address part, the processor dropped. */
SPLITC_INLINE void *splitc_address(splitc_ptr g)
{
    return (void *)(g & SPLITC_ADDRESS_MASK);
}

/* Conversion of a local pointer: (MYPROC, address), NULL stays NULL. */
SPLITC_ADDRESS_ONLY(1)
SPLITC_INLINE splitc_ptr splitc_from_local(const volatile void *address)
{
    return address ? splitc_make(splitc_job.myproc, address) : 0;
}

/* A computed address, as a pointer for whom the C compiler tells of types. */
SPLITC_INLINE splitc_ptr splitc_named(splitc_ptr g)
{
    return g;
}

/* ---- spread arithmetic -------------------------------------------------- */

/* Step n elements of `size` bytes across processors: the processor number
 * varies fastest, wrapping to the next row.  n may be negative. */
SPLITC_INLINE splitc_ptr splitc_spread_add(splitc_ptr p, long n, splitc_size size)
{
    long position = splitc_rank(p) + n;
    long row = position / splitc_job.procs;
    long rank = position % splitc_job.procs;

    if (rank < 0) {
        rank += splitc_job.procs;
        row--;
    }
    return ((splitc_ptr)rank << SPLITC_ADDRESS_BITS) |
           (((p & SPLITC_ADDRESS_MASK) + (splitc_size)row * size) & SPLITC_ADDRESS_MASK);
}

/* Elements from b to a. */
SPLITC_INLINE long splitc_spread_diff(splitc_ptr a, splitc_ptr b, splitc_size size)
{
    long bytes = (long)(a & SPLITC_ADDRESS_MASK) - (long)(b & SPLITC_ADDRESS_MASK);

    return bytes / (long)size * splitc_job.procs + (splitc_rank(a) - splitc_rank(b));
}

/* Two spread pointers compare as these values do: by row, then processor. */
SPLITC_INLINE splitc_ptr splitc_spread_order(splitc_ptr p)
{
    return p << (64 - SPLITC_ADDRESS_BITS) | p >> SPLITC_ADDRESS_BITS;
}

/* ---- windows ---------------------------------------------------------------- */

/* What of a rank's memory is mapped here.  A rank has one window for each quarter of its
 * addresses: the static objects are in the first, stack and heaps in the second, and between
 * them is room for what is private, such as memory by sbrk.  Following a global pointer g
 * takes one compare: where g - origin < limit, the object is at g + shift.  The limit is 0
 * where only messages reach. */
struct splitc_window {
    splitc_ptr origin; /* the first pointer into the window */
    splitc_size limit; /* bytes behind it */
    splitc_ptr shift;
    splitc_ptr unused; /* a power of two to index by */
};

#define SPLITC_QUARTER_BITS (SPLITC_ADDRESS_BITS - 2)

/* Four for each rank that a pointer can name; constant from before splitc_main on. */
extern const struct splitc_window splitc_windows[1ul << (64 - SPLITC_QUARTER_BITS)];

/* Bytes of signalling stores from here into the window of each rank, which reads
 * its entry through its window of us. */
extern splitc_size splitc_stored[1ul << (64 - SPLITC_ADDRESS_BITS)];

#define SPLITC_LIKELY(condition) __builtin_expect(!!(condition), 1)

/* Where an object is if it lies in the window that `pointer` names; what is at an offset from the
 * pointer is in the same one, or in none.
 *
 * A pointer may just have been read, out of a list say: then the load that follows waits for the
 * shift and for no addition, which its addressing mode does.  Where the offset is no constant,
 * there may be a loop over it.  Pointer and shift are then added before it, and the assembly
 * statement, which is empty, keeps the compiler from taking that apart again. */
struct splitc_lookup {
    splitc_size into, limit; /* bytes into the window, and of it */
    splitc_ptr base, behind; /* their sum is the address */
};

SPLITC_INLINE struct splitc_lookup splitc_look_up(splitc_ptr pointer, splitc_size offset)
{
    const struct splitc_window *w = &splitc_windows[pointer >> SPLITC_QUARTER_BITS];
    struct splitc_lookup found;

    found.into = pointer - w->origin + offset;
    found.limit = w->limit;
    if (__builtin_constant_p(offset)) {
        found.base = w->shift;
        found.behind = pointer + offset;
    } else {
        found.base = pointer + w->shift;
        found.behind = offset;
        __asm__("" : "+r"(found.base));
    }
    return found;
}

SPLITC_INLINE int splitc_is_found(struct splitc_lookup found)
{
    return SPLITC_LIKELY(found.into < found.limit);
}

SPLITC_INLINE void *splitc_found_at(struct splitc_lookup found)
{
    return (void *)(found.base + found.behind);
}

/* True if a load or store reaches the object, at splitc_near. */
SPLITC_INLINE int splitc_is_near(splitc_ptr g)
{
    return splitc_is_found(splitc_look_up(g, 0));
}

SPLITC_INLINE void *splitc_near(splitc_ptr g)
{
    return splitc_found_at(splitc_look_up(g, 0));
}

/* What a processor did before a global write is seen by who sees the write, and
 * what it does after a global read stays after it: see docs/memory-model.md.  Both
 * cost nothing on x86, but keep values out of registers. */
SPLITC_INLINE void splitc_before_write(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

SPLITC_INLINE void splitc_after_read(void)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/* ---- access --------------------------------------------------------------- */

/* The out-of-line paths: the object is not reachable by a load or store. */
void splitc_far_read(void *to, splitc_ptr from, splitc_size n);
void splitc_far_write(splitc_ptr to, const void *from, splitc_size n);
void splitc_far_get(void *to, splitc_ptr from, splitc_size n);
void splitc_far_put(splitc_ptr to, const void *from, splitc_size n);
void splitc_far_store(splitc_ptr to, const void *from, splitc_size n);

/* The same for up to SPLITC_WORD bytes, the first ones of a word: by value, so that
 * a variable need not live in memory for the sake of the slow path. */
#define SPLITC_WORD sizeof(unsigned long)
unsigned long splitc_far_read_word(splitc_ptr from, splitc_size n);
void splitc_far_write_word(splitc_ptr to, unsigned long word, splitc_size n);
void splitc_far_put_word(splitc_ptr to, unsigned long word, splitc_size n);
void splitc_far_store_word(splitc_ptr to, unsigned long word, splitc_size n);

/* Known before the optimizer runs, or the warnings about larger objects come. */
#define SPLITC_IS_WORD(n) (__builtin_constant_p(n) && (n) <= SPLITC_WORD)

/* n <= SPLITC_WORD bytes as the first ones of a word. */
SPLITC_INLINE unsigned long splitc_word_of(const void *from, splitc_size n)
{
    unsigned long word = 0;

    __builtin_memcpy(&word, from, n);
    return word;
}

/* Each access takes a pointer, and in its _at form an offset in bytes to be added to it. */

/* Blocking read of n bytes: complete when it returns. */
SPLITC_INLINE void splitc_read_at(void *to, splitc_ptr pointer, splitc_size offset, splitc_size n)
{
    const struct splitc_lookup found = splitc_look_up(pointer, offset);
    splitc_ptr from = pointer + offset;
    unsigned long word;

    if (splitc_is_found(found)) {
        __builtin_memcpy(to, splitc_found_at(found), n);
        splitc_after_read();
    } else if (SPLITC_IS_WORD(n)) {
        word = splitc_far_read_word(from, n);
        __builtin_memcpy(to, &word, n);
    } else {
        splitc_far_read(to, from, n);
    }
}

SPLITC_INLINE void splitc_read(void *to, splitc_ptr from, splitc_size n)
{
    splitc_read_at(to, from, 0, n);
}

/* Blocking write: in place at the owner when it returns. */
SPLITC_INLINE void splitc_write_at(splitc_ptr pointer, splitc_size offset, const void *from,
                                   splitc_size n)
{
    const struct splitc_lookup found = splitc_look_up(pointer, offset);
    splitc_ptr to = pointer + offset;

    if (splitc_is_found(found)) {
        splitc_before_write();
        __builtin_memcpy(splitc_found_at(found), from, n);
    } else if (SPLITC_IS_WORD(n)) {
        splitc_far_write_word(to, splitc_word_of(from, n), n);
    } else {
        splitc_far_write(to, from, n);
    }
}

SPLITC_INLINE void splitc_write(splitc_ptr to, const void *from, splitc_size n)
{
    splitc_write_at(to, 0, from, n);
}

/* Split-phase `:=` from a global object; `to` is filled at splitc_sync. */
SPLITC_INLINE void splitc_get_at(void *to, splitc_ptr pointer, splitc_size offset, splitc_size n)
{
    const struct splitc_lookup found = splitc_look_up(pointer, offset);
    splitc_ptr from = pointer + offset;

    if (splitc_is_found(found))
        __builtin_memcpy(to, splitc_found_at(found), n);
    else
        splitc_far_get(to, from, n);
}

SPLITC_INLINE void splitc_get(void *to, splitc_ptr from, splitc_size n)
{
    splitc_get_at(to, from, 0, n);
}

/* Split-phase `:=` to a global object.  The source may be reused at once; the
 * write is complete at splitc_sync. */
SPLITC_INLINE void splitc_put_at(splitc_ptr pointer, splitc_size offset, const void *from,
                                 splitc_size n)
{
    const struct splitc_lookup found = splitc_look_up(pointer, offset);
    splitc_ptr to = pointer + offset;

    if (splitc_is_found(found))
        __builtin_memcpy(splitc_found_at(found), from, n);
    else if (SPLITC_IS_WORD(n))
        splitc_far_put_word(to, splitc_word_of(from, n), n);
    else
        splitc_far_put(to, from, n);
}

SPLITC_INLINE void splitc_put(splitc_ptr to, const void *from, splitc_size n)
{
    splitc_put_at(to, 0, from, n);
}

/* Count n bytes that are in place at rank r. */
SPLITC_INLINE void splitc_count_store(splitc_size r, splitc_size n)
{
    __atomic_store_n(&splitc_stored[r], splitc_stored[r] + n, __ATOMIC_RELEASE);
}

/* Signalling store `:-`: n bytes, counted at the target processor when they are in
 * place.  The source may be reused at once. */
SPLITC_INLINE void splitc_store_at(splitc_ptr pointer, splitc_size offset, const void *from,
                                   splitc_size n)
{
    const struct splitc_lookup found = splitc_look_up(pointer, offset);
    splitc_ptr to = pointer + offset;

    if (splitc_is_found(found)) {
        __builtin_memcpy(splitc_found_at(found), from, n);
        splitc_count_store(pointer >> SPLITC_ADDRESS_BITS, n);
    } else if (SPLITC_IS_WORD(n)) {
        splitc_far_store_word(to, splitc_word_of(from, n), n);
    } else {
        splitc_far_store(to, from, n);
    }
}

SPLITC_INLINE void splitc_store(splitc_ptr to, const void *from, splitc_size n)
{
    splitc_store_at(to, 0, from, n);
}

/* Write the bits of `bits` that are set in `mask`, n bytes, in one step at the
 * owner: how a bit-field is written.  Blocking. */
void splitc_write_masked(splitc_ptr to, const void *mask, const void *bits, splitc_size n);

/* ---- functions run where an object is --------------------------------------- */

/* A call of atomic(fn, object, ...): what runs it at the object's owner.  Emitted code
 * has one for each such call and registers it from a constructor, so that it has
 * the same index in every copy of the program. */
struct splitc_atomic {
    void (*run)(void *object, const void *arguments, void *result);
    const char *name;           /* of the function */
    splitc_size arguments_size; /* bytes; 0 = none */
    splitc_size result_size;    /* at most SPLITC_RESULT_MAX */
    unsigned index;             /* by which it travels; the runtime sets it */
};

#define SPLITC_RESULT_MAX 24

void splitc_register_atomic(struct splitc_atomic *function);

/* Blocking.  Functions run this way at one processor never interrupt each other. */
void splitc_run_atomic(const struct splitc_atomic *function, splitc_ptr object,
                       const void *arguments, void *result);

/* Split-phase: the result, which a function begun this way has, is there at splitc_sync.  The
 * arguments may be reused at once. */
void splitc_begin_atomic(const struct splitc_atomic *function, splitc_ptr object,
                         const void *arguments, void *result);

/* ---- spread storage ------------------------------------------------------- */

/* Collective: `count` blocks of `size` bytes, block L on rank L % PROCS in row
 * L / PROCS, at one address on every rank.  Returns the spread pointer to block
 * 0 (aligned to 64).  Never returns NULL: exhaustion ends the job with a
 * message that names the sizes and the remedy. */
splitc_ptr splitc_spread_alloc(splitc_size count, splitc_size size);

/* Collective: waits for all, then frees.  0 is allowed. */
void splitc_spread_free(splitc_ptr base);

/* For __attribute__((cleanup)) of automatic spread arrays. */
SPLITC_INLINE void splitc_spread_cleanup(splitc_ptr *base)
{
    splitc_spread_free(*base);
}

/* A spread array with static storage.  Emitted code fills one in for each and
 * passes it to splitc_register_static from a constructor; the runtime
 * allocates them all, zeroed, before splitc_main, ordered by file and line so
 * that every rank does the same.  Without a base it is a pointer into such
 * arrays: when all are allocated, `shape` is called and sets it. */
struct splitc_static {
    splitc_ptr *base;                                     /* the variable to set, or null */
    void (*shape)(splitc_size *count, splitc_size *size); /* may use PROCS */
    const char *name;
    const char *file;
    int line;
    struct splitc_static *next;
};
void splitc_register_static(struct splitc_static *array);

/* ---- the program ------------------------------------------------------------ */

/* Defined in programs of -fold-programs, or by their link: the stack of splitc_main is large
 * whatever the limit says. */
extern const char splitc_wants_stack __attribute__((weak));

/* libc's, for a splitc_main that takes it as main may. */
extern char **splitc_environment __asm__("environ");

/* Emitted beside splitc_main, whatever its type; called by the runtime on every
 * rank.  Returns the rank's exit code. */
int splitc_entry(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif
