/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reductions.h - the types of values that collective operations take.
 *
 * Lists for whoever declares or defines something for each of them.
 */
#ifndef SPLITC_REDUCTIONS_H
#define SPLITC_REDUCTIONS_H

/* clang-format off */

/* each(letter, type) */
#define SPLITC_VALUES(each)                                                                        \
    each(i, int)                                                                                   \
    each(l, long)                                                                                  \
    each(u, unsigned)                                                                              \
    each(ul, unsigned long)                                                                        \
    each(f, float)                                                                                 \
    each(d, double)

/* each(name, type, how values combine that travel as 64 bits) */
#define SPLITC_REDUCTIONS(each)                                                                    \
    each(add, int, ADD)                                                                            \
    each(max, int, MAX)                                                                            \
    each(min, int, MIN)                                                                            \
    each(ladd, long, ADD)                                                                          \
    each(lmax, long, MAX)                                                                          \
    each(lmin, long, MIN)                                                                          \
    each(uadd, unsigned, ADD)                                                                      \
    each(umax, unsigned, MAX)                                                                      \
    each(umin, unsigned, MIN)                                                                      \
    each(uladd, unsigned long, ADD)                                                                \
    each(ulmax, unsigned long, MAX_UNSIGNED)                                                       \
    each(ulmin, unsigned long, MIN_UNSIGNED)                                                       \
    each(fadd, float, ADD_REAL)                                                                    \
    each(fmax, float, MAX_REAL)                                                                    \
    each(fmin, float, MIN_REAL)                                                                    \
    each(dadd, double, ADD_REAL)                                                                   \
    each(dmax, double, MAX_REAL)                                                                   \
    each(dmin, double, MIN_REAL)

/* clang-format on */

#endif
