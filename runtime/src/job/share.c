/* SPDX-License-Identifier: BSD-3-Clause */
#include "share.h"

#include "access/access.h"
#include "boot.h"
#include "collective/collective.h"
#include "endpoints.h"
#include "memory/memory.h"

#define OFFER_KEY "splitc.memory"

void splitc_share_offer(const struct splitc_boot *boot, const struct splitc_heap_sizes *sizes)
{
    const struct splitc_offer offer = splitc_window_offer(boot->windows, sizes);

    splitc_boot_tell(OFFER_KEY, &offer, sizeof offer);
}

static int share_attach(uint32_t rank)
{
    struct splitc_offer offer;
    int error = splitc_boot_ask(rank, OFFER_KEY, &offer, sizeof offer);

    return error ? error : splitc_window_attach(rank, &offer);
}

static bool share_attach_all(const struct splitc_boot *boot)
{
    for (uint32_t i = 0; i < boot->local_ranks; i++) {
        uint32_t rank = boot->local[i];
        int error = rank == splitc_runtime.rank ? 0 : share_attach(rank);

        if (error) {
            splitc_window_warn("a peer's memory cannot be mapped", error);
            return false;
        }
    }
    return true;
}

static void share_give_up(const struct splitc_boot *boot)
{
    for (uint32_t i = 0; i < boot->local_ranks; i++)
        splitc_window_detach(boot->local[i]);
    splitc_window_withdraw();
}

static uint32_t index_of_rank(uint32_t rank, const uint32_t *list)
{
    uint32_t at = 0;

    while (list[at] != rank)
        at++;
    return at;
}

/* ---- what libraries over GAM see of it -------------------------------------------------- */

static void *windows_find(void *arg, uint32_t rank, uint64_t address, size_t n)
{
    (void)arg;
    return splitc_window_reach(rank, address, n);
}

static void *windows_allocate(void *arg, size_t n)
{
    (void)arg;
    return splitc_heap_alloc(n);
}

static void windows_release(void *arg, void *at)
{
    (void)arg;
    splitc_heap_free(at);
}

static const struct gam_memory windows = {
    .find = windows_find, .allocate = windows_allocate, .release = windows_release};

/* ---- opening ------------------------------------------------------------------------- */

static void share_open_all(const struct splitc_boot *boot)
{
    for (uint32_t i = 0; i < boot->local_ranks; i++)
        if (boot->local[i] != splitc_runtime.rank)
            splitc_window_open(boot->local[i]);
    splitc_runtime.near = boot->local;
    splitc_runtime.near_ranks = boot->local_ranks;
    splitc_runtime.near_at = index_of_rank(splitc_runtime.rank, boot->local);
    if (boot->local_ranks == boot->ranks)
        return;
    splitc_runtime.nodes = splitc_endpoints_nodes(&splitc_runtime.first);
    splitc_runtime.node_at = index_of_rank(boot->local[0], splitc_runtime.first);
}

/* What a rank has to say about windows.  Either all ranks have them or none, so the least counts.
 * Where each has a node to itself there is nobody to share with, and memory of its own is better:
 * the spread heap has huge pages from its first byte on. */
enum vote { UNABLE, SHARES, ALONE };

static enum vote share_vote(const struct splitc_boot *boot)
{
    if (!splitc_window_is_offered() || !share_attach_all(boot))
        return UNABLE;
    return boot->local_ranks > 1 ? SHARES : ALONE;
}

static void share_move_statics(void *error)
{
    *(int *)error = splitc_window_move_statics();
}

/* PMIx has a thread, which writes static objects: malloc's, and those that a program's own malloc
 * hands out.  What it wrote between their copying and their mapping would be lost. */
static void share_move_in(void)
{
    int error;

    splitc_boot_hold(share_move_statics, &error);
    if (error)
        splitc_die("cannot move the static objects into shared memory: %s; SPLITC_WINDOWS=0 "
                   "does without",
                   strerror(-error));
    splitc_window_move_in();
}

/* The second reduction tells that all ranks have moved in. */
void splitc_share_open(const struct splitc_boot *boot)
{
    bool crowded;

    if (splitc_reduce_to_all(&splitc_team_all, SPLITC_MIN, share_vote(boot)) != SHARES) {
        share_give_up(boot);
        return;
    }
    share_move_in();
    crowded = splitc_reduce_to_all(&splitc_team_all, SPLITC_MAX, splitc_shares_cores());
    share_open_all(boot);
    gam_set_memory(splitc_runtime.gam, &windows);
    splitc_runtime.crowded = crowded && splitc_runtime.near_ranks == splitc_runtime.ranks;
}
