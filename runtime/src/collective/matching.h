/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matching.h - which step of an operation takes what a member has sent.
 *
 * The k-th piece that a member sends is for the k-th step that takes from it.  Pieces that come
 * before their step's round wait in a queue for each member, and the steps of a wide round are
 * found by the member, too: so each piece is matched in constant time on average, however many
 * there are.
 */
#ifndef SPLITC_MATCHING_H
#define SPLITC_MATCHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was sent to an operation before it could take it. */
struct splitc_early {
    struct splitc_early *next;
    uint64_t number;
    uint32_t peer;
    uint32_t what; /* enum splitc_collective */
    size_t n;
    const void *there; /* NULL: `bytes` has it */
    uint64_t token;
    uint8_t bytes[];
};

/* Early pieces of one operation, by sender: a hash table with open addressing. */
struct splitc_inbox {
    struct splitc_early_queue *queue;
    uint32_t room; /* a power of two, or 0 */
    uint32_t used;
    uint64_t pieces;
};

/* Keep a piece; returns false if there is no memory. */
bool splitc_inbox_put(struct splitc_inbox *box, struct splitc_early *e);

/* The oldest piece of a sender, or NULL; the second form takes it out. */
struct splitc_early *splitc_inbox_first(const struct splitc_inbox *box, uint32_t peer);
struct splitc_early *splitc_inbox_take(struct splitc_inbox *box, uint32_t peer);

/* Any piece for which the function returns true, or NULL: looks at all of them. */
struct splitc_early *splitc_inbox_find(const struct splitc_inbox *box,
                                       bool (*is)(const struct splitc_early *, const void *),
                                       const void *argument);

/* Give back its memory; it has to be empty. */
void splitc_inbox_close(struct splitc_inbox *box);

/* The steps of a round by the member that they take from: a hash table of their numbers, in the
 * order of the steps for each member. */
struct splitc_takers {
    uint32_t *first; /* number + 1 of the first step of a member that is not taken; 0: free */
    uint32_t room;   /* of this round's table: a power of two */
    uint32_t allocated;
};

/* Begin a round that has so many steps that take; false: there is no memory. */
bool splitc_takers_begin(struct splitc_takers *t, uint32_t steps);
void splitc_takers_close(struct splitc_takers *t);

/* Where in the table a member's entry begins; the next ones follow. */
uint32_t splitc_takers_hash(const struct splitc_takers *t, uint32_t peer);

#endif
