/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.h - bulk puts by direct access, where the network between two ranks has it.
 */
#ifndef SPLITC_DIRECT_H
#define SPLITC_DIRECT_H

#include "runtime.h"

/* Take part, unless SPLITC_DIRECT=0. */
void splitc_direct_open(void);

/* Begin a put that way; false: it has to go in messages.  The source is the transfer's until the
 * next sync. */
bool splitc_direct_put(uint32_t rank, void *to, const void *from, size_t n);

/* A put that counts as pending already, in messages (bulk.c). */
void splitc_put_in_messages(uint32_t rank, void *to, const void *from, size_t n);

/* Puts that were begun and are not complete. */
extern uint64_t splitc_direct_busy;

/* Transfers of which all pieces came, so far; and those that had to go again. */
extern uint64_t splitc_direct_landed, splitc_direct_repeated;

/* Move them on; not in a handler.  Returns whether some wait for room, of which nothing tells. */
bool splitc_direct_move(void) __attribute__((cold, noinline));

/* What handlers have left to be done outside of them.  Returns as splitc_direct_move. */
static inline bool splitc_deferred_step(void)
{
    if (__builtin_expect(splitc_fetches != NULL, 0))
        splitc_begin_fetches();
    return __builtin_expect(splitc_direct_busy > 0, 0) && splitc_direct_move();
}

#endif
