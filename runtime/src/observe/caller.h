/* SPDX-License-Identifier: BSD-3-Clause
 *
 * caller.h - where the program has called the library.
 */
#ifndef SPLITC_CALLER_H
#define SPLITC_CALLER_H

#include <stdint.h>

/* An address within the instruction of the program that called the library, found by unwinding the
 * stack; 0: none is found.  It takes microseconds, and costs nothing unless it is called. */
uint64_t splitc_caller(void);

#endif
