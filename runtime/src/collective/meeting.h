/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meeting.h - collective calls in which every member waits for every other.
 */
#ifndef SPLITC_MEETING_H
#define SPLITC_MEETING_H

#include "team.h"

/* Begin the next episode, after a meeting where one is due. */
void splitc_meeting_begin(struct splitc_team *t, enum splitc_collective what);

/* Collective: wait for all members; a barrier, by whatever name. */
void splitc_meet(struct splitc_team *t, enum splitc_collective what);

/* The rest of it, once its episode has begun: what the members have written to each other's boards
 * since then can be read afterwards. */
void splitc_meeting_pass(struct splitc_team *t);

#endif
