/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atomic_types.c - the atomic operations of split-c/atomic.h, one function for each type.
 */
#include "atomic.h"
#include "library.h"

#define BITS_OF(bits, value)                                                                       \
    __extension__({                                                                                \
        bits all;                                                                                  \
        memcpy(&all, &(value), sizeof all);                                                        \
        all;                                                                                       \
    })

#define RESULT_OF(type, bits, performed)                                                           \
    __extension__({                                                                                \
        const bits old = (bits)(performed);                                                        \
        type result;                                                                               \
        memcpy(&result, &old, sizeof result);                                                      \
        result;                                                                                    \
    })

#define WITH_VALUE(name, operation, letters, type, bits, number)                                   \
    type splitc_##name##_##letters(splitc_ptr object, type value)                                  \
    {                                                                                              \
        return RESULT_OF(                                                                          \
            type, bits,                                                                            \
            splitc_atomic_perform(operation, number, object, BITS_OF(bits, value), 0));            \
    }                                                                                              \
    unsigned long splitc_##name##_begin_##letters(type *old, splitc_ptr object, type value)        \
    {                                                                                              \
        return splitc_atomic_begin(operation, number, old, object, BITS_OF(bits, value), 0);       \
    }

#define EXCHANGES(letters, type, bits, number)                                                     \
    WITH_VALUE(fetch_add, SPLITC_FETCH_ADD, letters, type, bits, number)                           \
    WITH_VALUE(fetch_min, SPLITC_FETCH_MIN, letters, type, bits, number)                           \
    WITH_VALUE(fetch_max, SPLITC_FETCH_MAX, letters, type, bits, number)                           \
    WITH_VALUE(exchange, SPLITC_EXCHANGE, letters, type, bits, number)                             \
    type splitc_cmp_and_swap_##letters(splitc_ptr object, type expected, type desired)             \
    {                                                                                              \
        return RESULT_OF(type, bits,                                                               \
                         splitc_atomic_perform(SPLITC_COMPARE_AND_SWAP, number, object,            \
                                               BITS_OF(bits, expected), BITS_OF(bits, desired)));  \
    }                                                                                              \
    unsigned long splitc_cmp_and_swap_begin_##letters(type *old, splitc_ptr object, type expected, \
                                                      type desired)                                \
    {                                                                                              \
        return splitc_atomic_begin(SPLITC_COMPARE_AND_SWAP, number, old, object,                   \
                                   BITS_OF(bits, expected), BITS_OF(bits, desired));               \
    }

#define BITWISE(letters, type, bits, number)                                                       \
    WITH_VALUE(fetch_and, SPLITC_FETCH_AND, letters, type, bits, number)                           \
    WITH_VALUE(fetch_or, SPLITC_FETCH_OR, letters, type, bits, number)                             \
    WITH_VALUE(fetch_xor, SPLITC_FETCH_XOR, letters, type, bits, number)

SPLITC_ATOMIC_INTEGERS(EXCHANGES)
SPLITC_ATOMIC_REALS(EXCHANGES)
SPLITC_ATOMIC_INTEGERS(BITWISE)
