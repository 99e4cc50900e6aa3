/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meeting.h - collective calls in which every rank waits for every other.
 */
#ifndef SPLITC_MEETING_H
#define SPLITC_MEETING_H

#include "collective.h"

/* Begin the next episode, after a meeting where one is due. */
void splitc_meeting_begin(enum splitc_collective what);

/* Collective: wait for all ranks; a barrier, by whatever name. */
void splitc_meet(enum splitc_collective what);

#endif
