/* SPDX-License-Identifier: BSD-3-Clause
 *
 * caller.h - where the program has called the library.
 */
#ifndef SPLITC_CALLER_H
#define SPLITC_CALLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An address within the instruction of the program that called the library, found by unwinding the
 * stack; 0: none is found.  It takes microseconds, and costs nothing unless it is called. */
uint64_t splitc_caller(void);

/* Whether the address is in code of the program's own file, and not of the library in it. */
bool splitc_caller_owns(uint64_t pc);

/* Addresses within the instructions of all frames from that of `pc` outwards, or of all if it has
 * none; at most `room`.  Returns how many.  May be called in a signal handler. */
size_t splitc_caller_stack(uint64_t pc, uint64_t *frame, size_t room);

#endif
