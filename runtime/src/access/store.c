/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store.c - signalling stores: one-way, counted in bytes where they land.
 *
 * A store into a window is a copy, then an addition to a counter of the storing
 * rank's own, which the target reads through its window of that rank: no atomic
 * operation, and no cache line travels until somebody waits.  The counters only grow.
 * all_store_sync has to tell bytes stored before it from those that a faster rank
 * stores after it: on entering it, each rank notes its counters as they are.
 *
 * A store of a few words to anybody else is one request that nobody answers; GAM's
 * window takes its credit back with whatever flows the other way.
 */
#include "job/checks.h"

#include "library.h"

#define STORE_SMALL 24u /* bytes beside the address */
#define STEPS 16        /* of a wait, some 0.4 us, between two looks at stores that come */

/* What splitc_stored was when this rank entered its all_store_syncs: the last one, and
 * the one before, which a slower rank may still read. */
static uint64_t noted[2][GAM_RANKS_MAX];
static unsigned phase; /* which of them the next one notes */

void splitc_far_store(splitc_ptr to, const void *from, splitc_size n)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_target(to, "store");
    uint64_t word[GAM_WORDS_MAX] = {splitc_pack(splitc_address(to), n)};
    struct gam *g = splitc_runtime.gam;

    splitc_runtime.stored_out += n;
    if (n <= STORE_SMALL) {
        splitc_copy(&word[1], from, n);
        splitc_sent(rank, gam_request(g, rank, SPLITC_MSG_STORE, 1 + splitc_words(n), word));
    } else {
        splitc_sent(rank,
                    gam_store(g, rank, from, splitc_address(to), n, SPLITC_MSG_STORE_LANDED, 0));
    }
}

void splitc_far_store_word(splitc_ptr to, unsigned long word, splitc_size n)
{
    splitc_far_store(to, &word, n);
}

void splitc_on_store(struct gam *g, const struct gam_message *m)
{
    size_t n = splitc_packed_size(m->word[0]);

    (void)g;
    splitc_expect(m, m->words == 1 + splitc_words(n));
    splitc_copy(splitc_packed_address(m->word[0]), &m->word[1], n);
    splitc_runtime.stored_in += n;
}

void splitc_on_store_landed(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_runtime.stored_in += m->length;
}

/* ---- counting ---------------------------------------------------------------- */

/* The sum over the ranks whose windows we have of what they keep about us. */
static uint64_t sum_of(const uint64_t about[GAM_RANKS_MAX])
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++) {
        splitc_ptr g = splitc_make((int)splitc_runtime.near[i], &about[splitc_runtime.rank]);

        sum += __atomic_load_n((const uint64_t *)splitc_near(g), __ATOMIC_ACQUIRE);
    }
    return sum;
}

static uint64_t landed(void)
{
    return splitc_runtime.stored_in + sum_of(splitc_stored);
}

void splitc_store_counts(uint64_t *stored, uint64_t *in_place)
{
    *stored = splitc_runtime.stored_out;
    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++)
        *stored += splitc_stored[splitc_runtime.near[i]];
    *in_place = landed();
}

static bool have_landed(uint64_t bytes, uint64_t *all)
{
    *all = landed();
    return *all - splitc_runtime.consumed >= bytes;
}

/* ---- waiting for them ------------------------------------------------------ */

/* While stores come, more are on their way, and nobody rings when they are there.  To look at the
 * counters all the time would take their cache lines from those who store. */
static void wait_for_more(struct splitc_wait *w, bool they_come)
{
    if (they_come)
        w->idle = 0;
    for (int steps = they_come ? STEPS : 1; steps > 0; steps--)
        splitc_wait_step_unrung(w);
}

void splitc_store_sync(long bytes)
{
    SPLITC_INSIDE;
    struct splitc_wait w = {
        .kind = SPLITC_WAIT_STORES, .what = "store_sync", .whom = SPLITC_ANYBODY};
    uint64_t before, now;

    if (bytes < 0)
        splitc_die("store_sync of %ld bytes", bytes);
    for (before = landed(); !have_landed((uint64_t)bytes, &now); before = now)
        wait_for_more(&w, now != before);
    splitc_wait_end(&w);
    splitc_runtime.consumed += (uint64_t)bytes;
    splitc_full_fence();
}

int splitc_is_store_sync(long bytes)
{
    SPLITC_INSIDE;
    uint64_t all;

    splitc_poll();
    return bytes <= 0 || have_landed((uint64_t)bytes, &all);
}

void splitc_reset_store_sync(void)
{
    SPLITC_INSIDE;
    splitc_runtime.consumed = landed();
}

static void note_stored(void)
{
    for (uint32_t i = 0; i < splitc_runtime.near_ranks; i++) {
        uint32_t rank = splitc_runtime.near[i];

        noted[phase][rank] = splitc_stored[rank];
    }
}

/* Messages have all landed when as many bytes are in place as were sent, over all ranks.
 * Nobody sends between its own contribution and the end, so a sum of 0 is
 * final; what the next phase of a faster rank adds to stored_in meanwhile is
 * not consumed.  By then everybody has noted what it stored. */
void splitc_all_store_sync(void)
{
    SPLITC_INSIDE;
    uint64_t in, missing;

    splitc_check_collective(SPLITC_ALL_STORE_SYNC, 0, 0);
    note_stored();
    do {
        while (gam_poll(splitc_runtime.gam) > 0)
            ;
        in = splitc_runtime.stored_in;
        missing = splitc_reduce_to_all(SPLITC_ADD, splitc_runtime.stored_out - in);
    } while (missing != 0);
    splitc_runtime.consumed = in + sum_of(noted[phase]);
    phase = !phase;
}
