/* SPDX-License-Identifier: BSD-3-Clause
 *
 * profile.h - SPLITC_PROFILE=1: which lines of the program made remote accesses and waited, told
 * by processor 0 when all are at their ends.
 *
 * The program counts by itself, as splitcc -fprofile-lines made it.
 */
#ifndef SPLITC_PROFILE_TOLD_H
#define SPLITC_PROFILE_TOLD_H

#include "runtime.h"

#include <split-c/profile.h>

/* Learn whether it is wanted. */
void splitc_profile_init(void);

/* Collective, when all ranks have met at their ends. */
void splitc_profile_tell(void);

/* A wait is over that was timed. */
void splitc_profile_waited(const struct splitc_wait *w);

/* The call at hand moves bytes of an object. */
void splitc_profile_moved(splitc_ptr g, long bytes);

#endif
