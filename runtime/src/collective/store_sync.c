/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store_sync.c - all_store_sync: all signalling stores of all ranks are in place.
 *
 * It has to tell bytes stored before it from those that a faster rank stores after it.  So each
 * rank notes its counters (splitc_stored) on entering it.
 *
 * Two ranks without windows tell each other what they have sent: messages keep their order, so all
 * of it is in place when that comes.  More of them sum up what was sent and has not come.  A rank
 * that adds to a sum before all stores to it have come makes another sum necessary.
 */
#include "access/access.h"
#include "collective.h"
#include "episode.h"
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

enum {
    PATIENCE_US = 100, /* since the last store has come: whoever sends more is late then */
    REST_US = 20000,   /* until a rank leaves what the network does not take */
    DOUBTS = 16,       /* calls that expect nothing, after one that has waited for nothing */
};

/* Stores by messages.  Programs repeat themselves, so what has come is the best guess of what
 * will. */
static struct {
    uint64_t in;      /* bytes that had come by the end of the latest call, */
    uint64_t came[2]; /* and since the end of the call before, this time and the last */
    unsigned doubts;  /* calls left that expect nothing */
} habit;

static uint64_t habit_expects(void)
{
    const uint64_t *came = habit.came;

    if (habit.doubts > 0) {
        habit.doubts--;
        return 0;
    }
    return came[0] < came[1] ? came[0] : came[1];
}

/* True: what was expected has come.  What this rank has begun goes on meanwhile: others may wait
 * for it before they store.  Where ranks share a core, whoever would send may be waiting for that.
 */
static bool habit_await(void)
{
    const uint64_t expected = splitc_shares_cores() ? 0 : habit_expects();
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_COLLECTIVE, .what = "all_store_sync", .whom = SPLITC_ANYBODY};
    uint64_t in = splitc_runtime.stored_in;
    double since = splitc_get_seconds();

    while (splitc_runtime.stored_in - habit.in < expected && habit.doubts == 0) {
        splitc_wait_step_unrung(&w);
        if (splitc_runtime.stored_in != in) {
            in = splitc_runtime.stored_in;
            since = splitc_get_seconds();
        } else if ((splitc_get_seconds() - since) * 1e6 > PATIENCE_US) {
            habit.doubts = DOUBTS;
        }
    }
    splitc_wait_end(&w);
    return expected > 0 && habit.doubts == 0;
}

static void habit_note(uint64_t in)
{
    habit.came[1] = habit.came[0];
    habit.came[0] = in - habit.in;
    habit.in = in;
}

/* All messages have landed when, over all ranks, as many bytes are in place as were sent.  No rank
 * sends between its own contribution and the end, so a sum of 0 is final.  Bytes that a faster rank
 * sends in its next phase, and that stored_in counts meanwhile, are not consumed.  When the sum is
 * 0, every rank has noted its counters. */
static uint64_t settle_by_sums(void)
{
    bool all = habit_await(); /* of what is expected: the sum carries its acknowledgement */
    uint64_t in, missing;

    do {
        while (!all && gam_poll(splitc_runtime.gam) > 0)
            ;
        all = false;
        in = splitc_runtime.stored_in;
        missing =
            splitc_reduce_to_all(&splitc_team_all, SPLITC_ADD, splitc_runtime.stored_out - in);
    } while (missing != 0);
    habit_note(in);
    return in;
}

static bool is_of_two_without_windows(void)
{
    return splitc_team_all.size == 2 && splitc_runtime.near_ranks == 1;
}

/* What is left here goes when this rank polls, which it may not for as long as it computes.  The
 * other one may be without a processor for some milliseconds.  If it has left already and computes,
 * what is left is only the answer to a get of its own, and need not be waited for. */
static void send_rest(struct splitc_wait *w, uint32_t to)
{
    double since = 0;

    while (!gam_push(splitc_runtime.gam, to)) {
        const double now = splitc_get_seconds();

        if (since == 0)
            since = now;
        if ((now - since) * 1e6 > REST_US)
            return;
        splitc_wait_step_unrung(w);
    }
}

/* The stores of a faster rank's next phase may have come, too; what it told counts.  Stores that
 * other threads have counted may still be on their way behind the count. */
static uint64_t settle_two(void)
{
    const uint32_t other = 1 - splitc_runtime.rank;
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_COLLECTIVE, .what = "all_store_sync", .whom = other};
    uint64_t in;

    splitc_episode_begin(&splitc_team_all, SPLITC_ALL_STORE_SYNC);
    splitc_episode_tell(&splitc_team_all, other, 0, splitc_runtime.stored_out);
    in = splitc_episode_hear(&splitc_team_all, 0, other);
    send_rest(&w, other);
    while (splitc_runtime.stored_in < in)
        splitc_wait_step_unrung(&w);
    splitc_wait_end(&w);
    splitc_episode_passed(&splitc_team_all);
    return in;
}

void splitc_all_store_sync(void)
{
    SPLITC_INSIDE;
    uint64_t in;

    splitc_check_collective(&splitc_team_all, SPLITC_ALL_STORE_SYNC, 0, 0);
    note_stored();
    in = is_of_two_without_windows() ? settle_two() : settle_by_sums();
    splitc_runtime.consumed = in + splitc_stored_sum(noted[phase]);
    phase = !phase;
}
