/* SPDX-License-Identifier: BSD-3-Clause
 *
 * window.c - sending on one node: the sender copies straight to where bytes belong.
 *
 * What it copies overtakes messages, so it copies only when its owner has read all of those that it
 * has sent there.  A message without bytes tells the owner afterwards.
 */
#include "internal.h"
#include <sched.h>
#include <string.h>

enum {
    PIECE = 64 << 10,       /* bytes under one lock: what an owner may have to wait for */
    BYTES_PER_POLL = 256,   /* of a message, that waiting for earlier ones may cost in polls */
    YIELDS_FOR_OWNER = 1000 /* an owner that was killed does not want its lane for ever */
};

void vmmc_window_open(struct vmmc_imported *i, uint64_t lane, uint32_t use)
{
    struct vmmc *v = i->v;

    if (lane % _Alignof(struct vmmc_lane) == 0)
        i->lane = gam_memory_find(v->g, i->rank, lane, sizeof(*i->lane));
    i->use = use;
    /* All that was sent before the question was read before its answer. */
    if (i->lane)
        v->peer[i->rank].sent = atomic_load_explicit(&i->lane->handled, memory_order_acquire);
}

/* The owner needs nothing of it but that it has come, and wakes those who wait. */
void vmmc_window_on_landed(struct gam *g, const struct gam_message *m)
{
    (void)g;
    (void)m;
}

/* ---- one piece -------------------------------------------------------------------- */

static bool lane_enter(const struct vmmc_imported *i)
{
    struct vmmc_lane *lane = i->lane;
    int rc;

    for (int k = 0;
         atomic_load_explicit(&lane->wanted, memory_order_relaxed) != 0 && k < YIELDS_FOR_OWNER;
         k++)
        sched_yield();
    rc = pthread_mutex_lock(&lane->lock);
    if (rc == EOWNERDEAD)
        rc = pthread_mutex_consistent(&lane->lock);
    return rc == 0;
}

/* The export's door, if it is still there and this rank may use it. */
static struct vmmc_door *door_find(const struct vmmc_imported *i)
{
    const struct gam *g = i->v->g;
    const uint64_t slot = i->number & (VMMC_EXPORTS_MAX - 1);
    const _Atomic uint64_t *entry;
    struct vmmc_door *door;
    uint64_t at;

    if (i->lane->use != i->use)
        return NULL;
    entry = gam_memory_find(g, i->rank, i->lane->doors + slot * sizeof(*entry), sizeof(*entry));
    at = entry ? atomic_load_explicit(entry, memory_order_acquire) : 0;
    door = at % _Alignof(struct vmmc_door) == 0 ? gam_memory_find(g, i->rank, at, sizeof(*door))
                                                : NULL;
    if (!door || door->number != i->number ||
        (door->writer != VMMC_ANYBODY && door->writer != gam_rank(g)))
        return NULL;
    return door;
}

/* What the owner is told of is in place: the extent first, then the count, for which it waits.  A
 * redirectable buffer has one writer: its stores reach the line together, where an atomic addition
 * would first wait for those before it, while the owner takes the line away to look. */
static void door_tell(struct vmmc_door *door, uint64_t posted, uint64_t offset, size_t length)
{
    if (door->writer == VMMC_ANYBODY) {
        atomic_fetch_add_explicit(&door->landed, length, memory_order_release);
        return;
    }
    if (posted) {
        vmmc_posting_extend(door, posted, offset, length);
        door->redirected_so_far += length;
        atomic_store_explicit(&door->redirected, door->redirected_so_far, memory_order_relaxed);
    }
    door->landed_so_far += length;
    atomic_store_explicit(&door->landed, door->landed_so_far, memory_order_release);
}

static size_t door_copy(const struct vmmc_imported *i, struct vmmc_door *door, uint64_t offset,
                        const uint8_t *from, size_t n)
{
    size_t length = n < PIECE ? n : PIECE;
    uint64_t posted;
    const uint64_t to = vmmc_posting_find(door, offset, &length, &posted);
    void *here = length > 0 ? gam_memory_find(i->v->g, i->rank, to, length) : NULL;

    if (!here)
        return 0;
    memmove(here, from, length);
    door_tell(door, posted, offset, length);
    return length;
}

static size_t window_copy(const struct vmmc_imported *i, uint64_t offset, const uint8_t *from,
                          size_t n)
{
    struct vmmc_door *door;
    size_t length = 0;

    if (!lane_enter(i))
        return 0;
    door = door_find(i);
    if (door) {
        i->v->copied_to = door;
        /* B, pairs with A of posting_withdraw */
        atomic_store_explicit(&door->copying, 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        length = door_copy(i, door, offset, from, n);
        atomic_store_explicit(&door->copying, 0, memory_order_release);
    }
    pthread_mutex_unlock(&i->lane->lock);
    return length;
}

/* ---- messages ----------------------------------------------------------------------- */

/* Wait a little, about as long as the second copy would take that is saved by it. */
static bool window_is_caught_up(const struct vmmc_imported *i, size_t n)
{
    struct vmmc *v = i->v;

    for (size_t polls = n / BYTES_PER_POLL;; polls--) {
        if (atomic_load_explicit(&i->lane->handled, memory_order_acquire) == v->peer[i->rank].sent)
            return true;
        if (polls == 0)
            return false;
        gam_poll(v->g);
        vmmc_lane_publish(v);
    }
}

size_t vmmc_window_send(struct vmmc_imported *i, uint64_t offset, const uint8_t *from, size_t n)
{
    size_t done = 0, length;

    if (!window_is_caught_up(i, n))
        return 0;
    do {
        length = window_copy(i, offset + done, from + done, n - done);
        done += length;
    } while (length > 0 && done < n);
    return done;
}
