/* SPDX-License-Identifier: BSD-3-Clause
 *
 * combine.h - combining two values, each of which travels as 64 bits.
 */
#ifndef SPLITC_COMBINE_H
#define SPLITC_COMBINE_H

#include "collective.h"

static inline double splitc_bits_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint64_t splitc_double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t splitc_combine(enum splitc_combine with, uint64_t a, uint64_t b)
{
    switch (with) {
    case SPLITC_ADD:
        return a + b;
    case SPLITC_MAX:
        return (int64_t)a > (int64_t)b ? a : b;
    case SPLITC_MIN:
        return (int64_t)a < (int64_t)b ? a : b;
    case SPLITC_MAX_UNSIGNED:
        return a > b ? a : b;
    case SPLITC_MIN_UNSIGNED:
        return a < b ? a : b;
    case SPLITC_ADD_REAL:
        return splitc_double_bits(splitc_bits_double(a) + splitc_bits_double(b));
    case SPLITC_MAX_REAL:
        return splitc_bits_double(a) > splitc_bits_double(b) ? a : b;
    default: /* SPLITC_MIN_REAL */
        return splitc_bits_double(a) < splitc_bits_double(b) ? a : b;
    }
}

#endif
