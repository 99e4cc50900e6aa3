/* SPDX-License-Identifier: BSD-3-Clause
 *
 * program.h - which program this rank runs.
 *
 * Ranks name static objects and functions of each other by addresses: global pointers, the boards
 * of teams, functions that atomic() calls.  So all of them have to run one executable, or copies of
 * it.
 */
#ifndef SPLITC_PROGRAM_H
#define SPLITC_PROGRAM_H

#include <stdint.h>

/* A digest of what is loaded of the executable and where, the same for all its copies and wherever
 * its debug information says that it was built; 0 if the file cannot be read. */
uint64_t splitc_program_digest(void);

#endif
