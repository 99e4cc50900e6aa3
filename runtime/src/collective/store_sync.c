/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store_sync.c - all_store_sync: all signalling stores of all ranks are in place.
 *
 * It has to tell bytes stored before it from those that a faster rank stores after it.  So each
 * rank notes its counters (splitc_stored) on entering it.
 */
#include "access/access.h"
#include "collective.h"
#include "library.h"

/* The counters when this rank entered its last all_store_sync, and the one before, which a slower
 * rank may still read. */
static uint64_t noted[2][GAM_RANKS_MAX];
static unsigned phase; /* which of them the next call notes */

static void note_stored(void)
{
    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++) {
        uint32_t rank = splitc_runtime.near[i];

        noted[phase][rank] = splitc_stored[rank];
    }
}

/* All messages have landed when, over all ranks, as many bytes are in place as were sent.  No rank
 * sends between its own contribution and the end, so a sum of 0 is final.  Bytes that a faster rank
 * sends in its next phase, and that stored_in counts meanwhile, are not consumed.  When the sum is
 * 0, every rank has noted its counters. */
void splitc_all_store_sync(void)
{
    SPLITC_INSIDE;
    uint64_t in, missing;

    splitc_check_collective(&splitc_team_all, SPLITC_ALL_STORE_SYNC, 0, 0);
    note_stored();
    do {
        while (gam_poll(splitc_runtime.gam) > 0)
            ;
        in = splitc_runtime.stored_in;
        missing =
            splitc_reduce_to_all(&splitc_team_all, SPLITC_ADD, splitc_runtime.stored_out - in);
    } while (missing != 0);
    splitc_runtime.consumed = in + splitc_stored_sum(noted[phase]);
    phase = !phase;
}
