/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomic.h - atomic operations on numbers of any type and processor.  Not part of split-c.h, which
 * has some of them for int and long: programs may have their own functions of these names.
 *
 * The names are generic: the object's type says on what.  It is any integer type of 1, 2, 4 or 8
 * bytes, or float or double, and the object is aligned to its size.  Each is one step at the owner
 * of the object, a full fence, and all of them have one order that all processors agree on.
 */
#ifndef SPLITC_ATOMIC_H
#define SPLITC_ATOMIC_H

#ifdef __cplusplus
#error "<split-c/atomic.h> is for programs in Split-C; <split-c/split-c.h> says what C++ has"
#endif

#include <split-c/handle.h>
#include <split-c/operators.h>
#include <split-c/split-c.h>

/* ---- blocking: they return the old value, in the object's type ------------------------------ */

/*   object + value; integers wrap                        fetch_add(object, value)
 *   the lesser, or greater, of both                      fetch_min, fetch_max
 *   object & value, | and ^; integers alone              fetch_and, fetch_or, fetch_xor
 *   value                                                exchange(object, value)
 *   desired if it was expected; reals compare by bits    cmp_and_swap(object, expected, desired) */
#define fetch_add(object, value) SPLITC_OF_NUMBER(fetch_add, object)(object, value)
#define fetch_min(object, value) SPLITC_OF_NUMBER(fetch_min, object)(object, value)
#define fetch_max(object, value) SPLITC_OF_NUMBER(fetch_max, object)(object, value)
#define fetch_and(object, value) SPLITC_OF_INTEGER(fetch_and, object)(object, value)
#define fetch_or(object, value) SPLITC_OF_INTEGER(fetch_or, object)(object, value)
#define fetch_xor(object, value) SPLITC_OF_INTEGER(fetch_xor, object)(object, value)
#define exchange(object, value) SPLITC_OF_NUMBER(exchange, object)(object, value)
#define cmp_and_swap(object, expected, desired)                                                    \
    SPLITC_OF_NUMBER(cmp_and_swap, object)(object, expected, desired)

/* ---- split-phase -------------------------------------------------------------------------- */

/* They return a handle (handle.h) at once, and are complete at sync() or at its sync_h: then `*old`
 * has the old value.  `old` is a pointer to the object's type, or NULL if nobody wants to know.
 * When it happens before that, and in which order with others, is open. */
#define fetch_add_begin(old, object, value)                                                        \
    SPLITC_OF_NUMBER(fetch_add_begin, object)(old, object, value)
#define fetch_min_begin(old, object, value)                                                        \
    SPLITC_OF_NUMBER(fetch_min_begin, object)(old, object, value)
#define fetch_max_begin(old, object, value)                                                        \
    SPLITC_OF_NUMBER(fetch_max_begin, object)(old, object, value)
#define fetch_and_begin(old, object, value)                                                        \
    SPLITC_OF_INTEGER(fetch_and_begin, object)(old, object, value)
#define fetch_or_begin(old, object, value)                                                         \
    SPLITC_OF_INTEGER(fetch_or_begin, object)(old, object, value)
#define fetch_xor_begin(old, object, value)                                                        \
    SPLITC_OF_INTEGER(fetch_xor_begin, object)(old, object, value)
#define exchange_begin(old, object, value)                                                         \
    SPLITC_OF_NUMBER(exchange_begin, object)(old, object, value)
#define cmp_and_swap_begin(old, object, expected, desired)                                         \
    SPLITC_OF_NUMBER(cmp_and_swap_begin, object)(old, object, expected, desired)

/* ---- what the names stand for ------------------------------------------------------------- */

/* clang-format off */
#define SPLITC_INTEGER_FORMS(name)                                                                 \
    signed char: name##_sc, unsigned char: name##_uc, char: name##_c,                  \
    short: name##_s, unsigned short: name##_us, int: name##_i, unsigned: name##_u,                 \
    long: name##_l, unsigned long: name##_ul, long long: name##_ll, unsigned long long: name##_ull
#define SPLITC_OF_INTEGER(name, object) _Generic(*(object), SPLITC_INTEGER_FORMS(name))
#define SPLITC_OF_NUMBER(name, object)                                                             \
    _Generic(*(object), SPLITC_INTEGER_FORMS(name), float: name##_f, double: name##_d)
/* clang-format on */

/* long long has forms of its own, so that pointers to it fit; they are those of long. */
#define SPLITC_DECLARE_ATOMIC(name, letters, type, symbol)                                         \
    extern type name##_##letters(type *global object,                                              \
                                 type value) __asm__("splitc_" #name "_" #symbol);                 \
    extern splitc_handle name##_begin_##letters(                                                   \
        type *old, type *global object, type value) __asm__("splitc_" #name "_begin_" #symbol);
#define SPLITC_DECLARE_NUMBER_ATOMICS(letters, type, symbol)                                       \
    SPLITC_DECLARE_ATOMIC(fetch_add, letters, type, symbol)                                        \
    SPLITC_DECLARE_ATOMIC(fetch_min, letters, type, symbol)                                        \
    SPLITC_DECLARE_ATOMIC(fetch_max, letters, type, symbol)                                        \
    SPLITC_DECLARE_ATOMIC(exchange, letters, type, symbol)                                         \
    extern type cmp_and_swap_##letters(type *global object, type expected,                         \
                                       type desired) __asm__("splitc_cmp_and_swap_" #symbol);      \
    extern splitc_handle cmp_and_swap_begin_##letters(                                             \
        type *old, type *global object, type expected,                                             \
        type desired) __asm__("splitc_cmp_and_swap_begin_" #symbol);
#define SPLITC_DECLARE_INTEGER_ATOMICS(letters, type, symbol)                                      \
    SPLITC_DECLARE_NUMBER_ATOMICS(letters, type, symbol)                                           \
    SPLITC_DECLARE_ATOMIC(fetch_and, letters, type, symbol)                                        \
    SPLITC_DECLARE_ATOMIC(fetch_or, letters, type, symbol)                                         \
    SPLITC_DECLARE_ATOMIC(fetch_xor, letters, type, symbol)
SPLITC_DECLARE_INTEGER_ATOMICS(sc, signed char, sc)
SPLITC_DECLARE_INTEGER_ATOMICS(uc, unsigned char, uc)
#ifdef __CHAR_UNSIGNED__
SPLITC_DECLARE_INTEGER_ATOMICS(c, char, uc)
#else
SPLITC_DECLARE_INTEGER_ATOMICS(c, char, sc)
#endif
SPLITC_DECLARE_INTEGER_ATOMICS(s, short, s)
SPLITC_DECLARE_INTEGER_ATOMICS(us, unsigned short, us)
SPLITC_DECLARE_INTEGER_ATOMICS(i, int, i)
SPLITC_DECLARE_INTEGER_ATOMICS(u, unsigned, u)
SPLITC_DECLARE_INTEGER_ATOMICS(l, long, l)
SPLITC_DECLARE_INTEGER_ATOMICS(ul, unsigned long, ul)
SPLITC_DECLARE_INTEGER_ATOMICS(ll, long long, l)
SPLITC_DECLARE_INTEGER_ATOMICS(ull, unsigned long long, ul)
SPLITC_DECLARE_NUMBER_ATOMICS(f, float, f)
SPLITC_DECLARE_NUMBER_ATOMICS(d, double, d)

#endif
