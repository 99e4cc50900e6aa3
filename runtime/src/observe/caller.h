/* SPDX-License-Identifier: BSD-3-Clause
 *
 * caller.h - where the program has called the library.
 */
#ifndef SPLITC_CALLER_H
#define SPLITC_CALLER_H

#include <stdint.h>

/* An address within the instruction of the program that called what runs now, found by unwinding
 * the stack; 0: none is found.  Takes microseconds, and costs those nothing that do not ask. */
uint64_t splitc_caller(void);

#endif
