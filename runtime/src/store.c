/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store.c - signalling stores: one-way, counted in bytes where they land.
 *
 * A store of a few words is one request that nobody answers; GAM's window takes
 * its credit back with whatever flows the other way.
 */
#include "runtime.h"

#include "library.h"

#define STORE_SMALL 24u /* bytes beside the address */

static void store_at_home(void *to, const void *from, size_t n)
{
    memmove(to, from, n);
    splitc_runtime.stored_out += n;
    splitc_runtime.stored_in += n;
}

void splitc_store(splitc_ptr to, const void *from, splitc_size n)
{
    if (splitc_near(to))
        store_at_home(splitc_address(to), from, n);
    else
        splitc_far_store(to, from, n);
}

void splitc_far_store(splitc_ptr to, const void *from, splitc_size n)
{
    uint32_t rank = splitc_target(to);
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

/* ---- waiting for them ------------------------------------------------------ */

static bool have_landed(uint64_t bytes)
{
    return splitc_runtime.stored_in - splitc_runtime.consumed >= bytes;
}

void splitc_store_sync(long bytes)
{
    if (bytes < 0)
        splitc_die("store_sync of %ld bytes", bytes);
    for (uint32_t idle = 0; !have_landed((uint64_t)bytes);)
        splitc_wait_step(&idle);
    splitc_runtime.consumed += (uint64_t)bytes;
}

int splitc_is_store_sync(long bytes)
{
    splitc_poll();
    return bytes <= 0 || have_landed((uint64_t)bytes);
}

void splitc_reset_store_sync(void)
{
    splitc_runtime.consumed = splitc_runtime.stored_in;
}

/* All have landed when as many bytes are in place as were sent, over all ranks.
 * Nobody sends between its own contribution and the end, so a sum of 0 is
 * final; what the next phase of a faster rank adds to stored_in meanwhile is
 * not consumed. */
void splitc_all_store_sync(void)
{
    uint64_t landed, missing;

    do {
        while (gam_poll(splitc_runtime.gam) > 0)
            ;
        landed = splitc_runtime.stored_in;
        missing = splitc_reduce_to_all(SPLITC_ADD, splitc_runtime.stored_out - landed);
    } while (missing != 0);
    splitc_runtime.consumed = landed;
}
