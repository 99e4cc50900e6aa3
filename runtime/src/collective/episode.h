/* SPDX-License-Identifier: BSD-3-Clause
 *
 * episode.h - what collective calls are made of.
 *
 * Each collective call is an episode, which has the same number on every rank.  In it, ranks send
 * single values to numbered places of each other; a value that comes early waits in the mailbox of
 * its episode and place.  Not every collective call makes all ranks wait, so some run ahead.  A
 * meeting, at least every EPISODES - 1 calls, keeps them from reusing a mailbox too early:
 *
 *   A rank that has passed the meeting m knows that all others have begun it, so they have finished
 *   every episode before m.  Until it has passed the next meeting, m + EPISODES - 1 at the latest,
 *   it sends values for the episodes after m only.  So the episodes from m to m + EPISODES - 1 are
 *   in use, and each has a mailbox of its own.
 *
 * Memory: 33 mailboxes of 32 bytes for each of 64 episodes, whatever the number of ranks.
 */
#ifndef SPLITC_EPISODE_H
#define SPLITC_EPISODE_H

#include "team.h"

/* Begin the next episode. */
void splitc_episode_begin(struct splitc_team *t, enum splitc_collective what);

/* Whether that is a call which no rank leaves before all have begun it. */
bool splitc_episode_is_meeting(enum splitc_collective what);

/* Whether the next episode has to be a meeting. */
bool splitc_episode_needs_meeting(const struct splitc_team *t);

/* All members have begun the current episode: check that they did the same in those before it. */
void splitc_episode_passed(struct splitc_team *t);

/* Record what a rank says that it does in an episode.  Ends the job if others said otherwise. */
void splitc_episode_agree(struct splitc_team *t, uint64_t episode, enum splitc_collective what,
                          uint32_t rank);

/* The same for what was said at the gate. */
void splitc_episode_agree_said(struct splitc_team *t, uint64_t said, uint64_t episode);

/* The same for all that has been said to this rank about an episode. */
void splitc_episode_check(struct splitc_team *t, uint64_t episode);

/* Send a value to a place of another member. */
void splitc_episode_tell(struct splitc_team *t, uint32_t to, uint32_t place, uint64_t value);

/* Wait for the value of a place of this rank, which `from` sends. */
uint64_t splitc_episode_hear(struct splitc_team *t, uint32_t place, uint32_t from);

/* A rank has ended after that episode; UINT64_MAX: it does not say after which. */
void splitc_episode_rank_ended(uint32_t rank, uint64_t last);

#endif
