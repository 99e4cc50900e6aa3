/* SPDX-License-Identifier: BSD-3-Clause
 *
 * profile.h - SPLITC_PROFILE=1: which lines of the program made remote accesses and waited.
 * Processor 0 prints it when all ranks are at their ends.
 *
 * Accesses and calls are counted by the code that splitcc -fprofile-lines emits.
 */
#ifndef SPLITC_PROFILE_TOLD_H
#define SPLITC_PROFILE_TOLD_H

#include "observe/observe.h"

#include <split-c/profile.h>

void splitc_profile_open(void);
void splitc_profile_wait_begun(const struct splitc_event *e);
void splitc_profile_wait_ended(const struct splitc_event *e);
void splitc_profile_moved(const struct splitc_event *e);
void splitc_profile_report(splitc_await_fn *await);

#endif
