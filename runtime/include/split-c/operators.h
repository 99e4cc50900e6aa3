/* SPDX-License-Identifier: BSD-3-Clause
 *
 * operators.h - the numbers of types and operations that collective.h, atomic.h and the library
 * agree on.
 */
#ifndef SPLITC_OPERATORS_H
#define SPLITC_OPERATORS_H

enum splitc_type {
    SPLITC_TYPE_OTHER, /* no number, or none that the library knows */
    SPLITC_TYPE_SCHAR,
    SPLITC_TYPE_UCHAR,
    SPLITC_TYPE_SHORT,
    SPLITC_TYPE_USHORT,
    SPLITC_TYPE_INT,
    SPLITC_TYPE_UINT,
    SPLITC_TYPE_LONG,
    SPLITC_TYPE_ULONG,
    SPLITC_TYPE_FLOAT,
    SPLITC_TYPE_DOUBLE,
    SPLITC_TYPES
};

#define SPLITC_OPERATORS 7 /* 1 add, 2 multiply, 3 min, 4 max, 5 and, 6 or, 7 xor */

/* each(letters, type) */
/* clang-format off */
#define SPLITC_INTEGER_TYPES(each)                                                                 \
    each(sc, signed char)                                                                          \
    each(uc, unsigned char)                                                                        \
    each(s, short)                                                                                 \
    each(us, unsigned short)                                                                       \
    each(i, int)                                                                                   \
    each(u, unsigned)                                                                              \
    each(l, long)                                                                                  \
    each(ul, unsigned long)
#define SPLITC_REAL_TYPES(each)                                                                    \
    each(f, float)                                                                                 \
    each(d, double)
/* clang-format on */

#endif
