/* SPDX-License-Identifier: BSD-3-Clause
 *
 * episode.h - what collective calls are made of.
 *
 * Each collective call is an episode, numbered alike on every rank.  In it,
 * ranks send single values to numbered places of each other; a value that comes
 * early waits in the mailbox of its episode and place.  Not every collective
 * makes everybody wait, so ranks run ahead; one that does, at least every
 * EPISODES - 1 calls, keeps them from running round the mailboxes:
 *
 *   A rank that has passed the meeting m knows that all others have begun it, so
 *   they are done with every episode before m.  Until it has passed the next
 *   one, m + EPISODES - 1 at the latest, it sends for the episodes after m only:
 *   those that are alive, m to m + EPISODES - 1, have a mailbox each.
 *
 * Memory: 33 mailboxes of 32 bytes for each of 16 episodes, whatever the number
 * of ranks.
 */
#ifndef SPLITC_EPISODE_H
#define SPLITC_EPISODE_H

#include "runtime.h"

/* What the ranks do together; all have to say the same. */
enum splitc_collective {
    SPLITC_BARRIER = 1,
    SPLITC_SPREAD_FREE,
    SPLITC_REDUCE_TO_ALL,
    SPLITC_REDUCE_TO_ONE,
    SPLITC_BROADCAST,
    SPLITC_SCAN,
    SPLITC_CHECK,        /* of -fcheck, before each of the others */
    SPLITC_SPREAD_ALLOC, /* this and what follows are known only to -fcheck */
    SPLITC_ALL_STORE_SYNC,
    SPLITC_COLLECTIVES
};

/* The place of a value from the parent in a tree; below it, one for each level; above it, one for
 * each round in which nodes meet, or halves of the ranks. */
#define SPLITC_DOWN SPLITC_LEVELS
#define SPLITC_ACROSS (SPLITC_DOWN + 1)

/* How a program calls it. */
const char *splitc_collective_name(enum splitc_collective what);

/* Processor 0's value, everywhere (collective.c). */
uint64_t splitc_broadcast(enum splitc_collective what, uint64_t value);

/* Begin the next episode. */
void splitc_episode_begin(enum splitc_collective what);

/* Everybody has been in the current episode: see that all did the same in those before. */
void splitc_episode_met(void);

/* What a rank says that it does in an episode: ends the job if others said otherwise. */
void splitc_agree(uint64_t episode, enum splitc_collective what, uint32_t rank);

/* All that was said to us about an episode so far. */
void splitc_check_agreement(uint64_t episode);

/* A meeting where ranks share cores (gate.c): the combination of all ranks' values. */
uint64_t splitc_gate_meet(uint64_t episode, enum splitc_collective what, enum splitc_combine with,
                          uint64_t value);

/* After a meeting of all: serve what was sent before it, if anybody has sent anything. */
void splitc_gate_serve(uint64_t episode);

/* What was last said at the gate, if it is about this episode. */
void splitc_gate_compare(uint64_t episode);

/* Send a value to a place of another rank. */
void splitc_tell(uint32_t to, uint32_t place, uint64_t value);

/* Wait for the value of one of our places, which that rank sends. */
uint64_t splitc_hear(uint32_t place, uint32_t from);

/* Collective, everybody waits for everybody: a barrier, by whatever name. */
void splitc_meet(enum splitc_collective what);

/* The last episode begun here. */
uint64_t splitc_last_episode(void);

/* Be told that a rank has ended after that episode; UINT64_MAX = it says nothing about it. */
void splitc_rank_ended(uint32_t rank, uint64_t last);

#endif
