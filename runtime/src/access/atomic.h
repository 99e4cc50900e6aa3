/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomic.h - atomic operations on one object, of the type and by the operation that a message
 * names.
 *
 * All combine old and new value in the type of the object; a, b and the result travel as its bits.
 */
#ifndef SPLITC_ATOMIC_APPLY_H
#define SPLITC_ATOMIC_APPLY_H

#include "runtime.h"

#include <split-c/operators.h>

enum splitc_atomic_operation {
    SPLITC_FETCH_ADD,
    SPLITC_EXCHANGE,
    SPLITC_COMPARE_AND_SWAP, /* a = expected, b = desired */
    SPLITC_FETCH_AND,        /* this one and the next two: integers */
    SPLITC_FETCH_OR,
    SPLITC_FETCH_XOR,
    SPLITC_FETCH_MIN,
    SPLITC_FETCH_MAX,
    SPLITC_ATOMIC_OPERATIONS
};

#define SPLITC_ALWAYS static inline __attribute__((always_inline))

/* each(letters, type, unsigned type of that width, number) */
/* clang-format off */
#define SPLITC_ATOMIC_INTEGERS(each)                                                               \
    each(sc, signed char, uint8_t, SPLITC_TYPE_SCHAR)                                              \
    each(uc, unsigned char, uint8_t, SPLITC_TYPE_UCHAR)                                            \
    each(s, short, uint16_t, SPLITC_TYPE_SHORT)                                                    \
    each(us, unsigned short, uint16_t, SPLITC_TYPE_USHORT)                                         \
    each(i, int, uint32_t, SPLITC_TYPE_INT)                                                        \
    each(u, unsigned, uint32_t, SPLITC_TYPE_UINT)                                                  \
    each(l, long, uint64_t, SPLITC_TYPE_LONG)                                                      \
    each(ul, unsigned long, uint64_t, SPLITC_TYPE_ULONG)
#define SPLITC_ATOMIC_REALS(each)                                                                  \
    each(f, float, uint32_t, SPLITC_TYPE_FLOAT)                                                    \
    each(d, double, uint64_t, SPLITC_TYPE_DOUBLE)
/* clang-format on */

/* What min, max and the sums of reals have no instruction for. */
#define SPLITC_ATOMIC_LOOP(type, bits, object, a, result)                                          \
    do {                                                                                           \
        bits old = __atomic_load_n(object, __ATOMIC_RELAXED), now;                                 \
        type value, other, next;                                                                   \
                                                                                                   \
        memcpy(&other, &(a), sizeof other);                                                        \
        do {                                                                                       \
            memcpy(&value, &old, sizeof value);                                                    \
            next = result;                                                                         \
            memcpy(&now, &next, sizeof now);                                                       \
        } while (!__atomic_compare_exchange_n(object, &old, now, false, __ATOMIC_SEQ_CST,          \
                                              __ATOMIC_RELAXED));                                  \
        return old;                                                                                \
    } while (0)

#define SPLITC_ATOMIC_EXCHANGES(bits, object, a, b)                                                \
    case SPLITC_EXCHANGE:                                                                          \
        return __atomic_exchange_n(object, a, __ATOMIC_SEQ_CST);                                   \
    case SPLITC_COMPARE_AND_SWAP: /* leaves the old value in a */                                  \
        __atomic_compare_exchange_n(object, &a, b, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
        return a;

#define SPLITC_ATOMIC_EXTREMES(type, bits, object, a)                                              \
    case SPLITC_FETCH_MIN:                                                                         \
        SPLITC_ATOMIC_LOOP(type, bits, object, a, other < value ? other : value);                  \
    case SPLITC_FETCH_MAX:                                                                         \
        SPLITC_ATOMIC_LOOP(type, bits, object, a, other > value ? other : value);

#define SPLITC_ATOMIC_APPLY_INTEGER(letters, type, bits, number)                                   \
    SPLITC_ALWAYS bits splitc_atomic_apply_##letters(enum splitc_atomic_operation operation,       \
                                                     bits *object, bits a, bits b)                 \
    {                                                                                              \
        switch (operation) {                                                                       \
            SPLITC_ATOMIC_EXCHANGES(bits, object, a, b)                                            \
            SPLITC_ATOMIC_EXTREMES(type, bits, object, a)                                          \
        case SPLITC_FETCH_AND:                                                                     \
            return __atomic_fetch_and(object, a, __ATOMIC_SEQ_CST);                                \
        case SPLITC_FETCH_OR:                                                                      \
            return __atomic_fetch_or(object, a, __ATOMIC_SEQ_CST);                                 \
        case SPLITC_FETCH_XOR:                                                                     \
            return __atomic_fetch_xor(object, a, __ATOMIC_SEQ_CST);                                \
        default: /* SPLITC_FETCH_ADD */                                                            \
            return __atomic_fetch_add(object, a, __ATOMIC_SEQ_CST);                                \
        }                                                                                          \
    }
SPLITC_ATOMIC_INTEGERS(SPLITC_ATOMIC_APPLY_INTEGER)

#define SPLITC_ATOMIC_APPLY_REAL(letters, type, bits, number)                                      \
    SPLITC_ALWAYS bits splitc_atomic_apply_##letters(enum splitc_atomic_operation operation,       \
                                                     bits *object, bits a, bits b)                 \
    {                                                                                              \
        switch (operation) {                                                                       \
            SPLITC_ATOMIC_EXCHANGES(bits, object, a, b)                                            \
            SPLITC_ATOMIC_EXTREMES(type, bits, object, a)                                          \
        default: /* SPLITC_FETCH_ADD */                                                            \
            SPLITC_ATOMIC_LOOP(type, bits, object, a, value + other);                              \
        }                                                                                          \
    }
SPLITC_ATOMIC_REALS(SPLITC_ATOMIC_APPLY_REAL)

/* Known types and operations leave one instruction of it, or a loop. */
SPLITC_ALWAYS uint64_t splitc_atomic_apply(enum splitc_atomic_operation operation,
                                           enum splitc_type type, void *object, uint64_t a,
                                           uint64_t b)
{
#define SPLITC_ATOMIC_CASE(letters, type, bits, number)                                            \
    case number:                                                                                   \
        return splitc_atomic_apply_##letters(operation, object, (bits)a, (bits)b);

    switch (type) {
        SPLITC_ATOMIC_INTEGERS(SPLITC_ATOMIC_CASE)
        SPLITC_ATOMIC_REALS(SPLITC_ATOMIC_CASE)
    default:
        return 0;
    }
}

/* Bytes of an object; 0: there is no such type. */
SPLITC_ALWAYS size_t splitc_atomic_size(enum splitc_type type)
{
#define SPLITC_ATOMIC_SIZE(letters, type, bits, number)                                            \
    case number:                                                                                   \
        return sizeof(bits);

    switch (type) {
        SPLITC_ATOMIC_INTEGERS(SPLITC_ATOMIC_SIZE)
        SPLITC_ATOMIC_REALS(SPLITC_ATOMIC_SIZE)
    default:
        return 0;
    }
}

/* The slow path of both forms (atomic.c): checks, messages.  The second returns a handle, and puts
 * the old value to `old` unless that is NULL. */
uint64_t splitc_atomic_far(enum splitc_atomic_operation operation, enum splitc_type type,
                           splitc_ptr object, uint64_t a, uint64_t b) __attribute__((noinline));
uint64_t splitc_atomic_begin(enum splitc_atomic_operation operation, enum splitc_type type,
                             void *old, splitc_ptr object, uint64_t a, uint64_t b);

/* Whether it changed nothing: as a rule a failed attempt to take what another rank has. */
SPLITC_ALWAYS bool splitc_atomic_in_vain(enum splitc_atomic_operation operation,
                                         enum splitc_type type, uint64_t old, uint64_t a)
{
    const bool same = (old ^ a) << (64 - 8 * splitc_atomic_size(type)) == 0;

    return (operation == SPLITC_EXCHANGE && same) ||
           (operation == SPLITC_COMPARE_AND_SWAP && !same);
}

/* The other rank may need us to give it back: serve what it asks for. */
void splitc_atomic_serve(void) __attribute__((cold));

/* What -fcheck does before n bytes at g are read or written; NULL: it is off. */
extern void (*splitc_access_check)(splitc_ptr g, uint64_t n, bool writes);

/* Through a window it is one instruction, or a loop, behind the lookup of the object. */
SPLITC_ALWAYS uint64_t splitc_atomic_perform(enum splitc_atomic_operation operation,
                                             enum splitc_type type, splitc_ptr object, uint64_t a,
                                             uint64_t b)
{
    uint64_t old;

    if (!splitc_is_near(object) || object % splitc_atomic_size(type) != 0 || splitc_access_check)
        return splitc_atomic_far(operation, type, object, a, b);
    old = splitc_atomic_apply(operation, type, splitc_near(object), a, b);
    if (splitc_atomic_in_vain(operation, type, old, a))
        splitc_atomic_serve();
    return old;
}

#endif
