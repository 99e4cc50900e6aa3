/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store.c - signalling stores: one-way, counted in bytes where they land.
 *
 * A store into a window is a copy, then an addition to a counter of the storing rank
 * (splitc_stored), which the target reads through its window of that rank.  It takes no atomic
 * operation, and no cache line moves until a rank waits.  The counters only grow.
 *
 * A store of a few words to a rank without a window is one request without an answer; GAM returns
 * its credit with other messages.
 */
#include "access.h"
#include "library.h"

#define STORE_SMALL 24u /* bytes beside the address */
#define STEPS 16        /* of a wait, some 0.4 us, between two looks at counters that grow */

void splitc_far_store(splitc_ptr to, const void *from, splitc_size n)
{
    SPLITC_INSIDE;
    uint32_t rank = splitc_target_split(to, "store");
    uint64_t word[GAM_WORDS_MAX] = {splitc_pack(splitc_address(to), n)};
    struct gam *g = splitc_runtime.gam;

    splitc_runtime.stored_out += n;
    if (splitc_coalesce(SPLITC_RECORD_STORE, rank, splitc_address(to), from, n))
        return;
    splitc_coalesced_go();
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

/* Of rows, the word says how many bytes they are. */
void splitc_on_store_landed(struct gam *g, const struct gam_message *m)
{
    (void)g;
    splitc_runtime.stored_in += m->length + m->word[0];
}

static bool stores_landed(uint64_t bytes, uint64_t *all)
{
    *all = splitc_stored_landed();
    return *all - splitc_runtime.consumed >= bytes;
}

/* ---- waiting for them ------------------------------------------------------ */

/* While stores arrive, more are likely to, and no message tells of them.  A look at the counters
 * takes their cache lines from the ranks that store, so it is not made in every step. */
static void wait_for_stores(struct splitc_wait *w, bool arriving)
{
    if (arriving)
        w->idle = 0;
    for (int steps = arriving ? STEPS : 1; steps > 0; steps--)
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
    for (before = splitc_stored_landed(); !stores_landed((uint64_t)bytes, &now); before = now)
        wait_for_stores(&w, now != before);
    gam_push_left(splitc_runtime.gam); /* before this rank computes */
    splitc_wait_end(&w);
    splitc_runtime.consumed += (uint64_t)bytes;
    splitc_full_fence();
}

int splitc_is_store_sync(long bytes)
{
    SPLITC_INSIDE;
    uint64_t all;

    splitc_poll();
    return bytes <= 0 || stores_landed((uint64_t)bytes, &all);
}

void splitc_reset_store_sync(void)
{
    SPLITC_INSIDE;
    splitc_runtime.consumed = splitc_stored_landed();
}
