/* SPDX-License-Identifier: BSD-3-Clause
 *
 * check.h - what the programs in run/ check themselves with.  A program says
 * what it saw and what it expected, goes on, and ends with `return failures`.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int failures;

#define EXPECT(expression, expected)                                                               \
    do {                                                                                           \
        long saw_ = (long)(expression), expected_ = (long)(expected);                              \
        if (saw_ != expected_) {                                                                   \
            failures = 1;                                                                          \
            printf("%s:%d: processor %d: %s is %ld, not %ld\n", __FILE__, __LINE__, MYPROC,        \
                   #expression, saw_, expected_);                                                  \
        }                                                                                          \
    } while (0)

#endif
