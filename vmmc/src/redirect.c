/* SPDX-License-Identifier: BSD-3-Clause
 *
 * redirect.c - transfer redirection: where bytes of a redirectable buffer land.
 *
 * What has been written to the posted memory is one extent.  Bytes that would begin a second one go
 * to the buffer, so that two numbers tell the owner where everything is.  Bytes that are sent twice
 * go where their first copy is, so that no old copy is taken for the new one.
 */
#include "internal.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t extent_begin(const struct vmmc_posting *p)
{
    return atomic_load_explicit(&p->begin, memory_order_relaxed);
}

/* What it covers is in place, if this is read first. */
static size_t extent_end(const struct vmmc_posting *p)
{
    return atomic_load_explicit(&p->end, memory_order_acquire);
}

/* An empty extent begins and ends at `at`; it is empty at each step. */
static void extent_start(struct vmmc_posting *p, size_t at)
{
    atomic_store_explicit(&p->begin, at, memory_order_relaxed);
    atomic_store_explicit(&p->end, at, memory_order_release);
}

static uint64_t posting_to(const struct vmmc_posting *p)
{
    return atomic_load_explicit(&p->to, memory_order_acquire);
}

uint64_t vmmc_posting_find(struct vmmc_door *door, uint64_t offset, size_t *length, bool *posted)
{
    struct vmmc_posting *p = &door->posting;
    const uint64_t in_buffer = door->at + offset, to = posting_to(p);
    size_t at;

    *posted = false;
    if (!to || offset >= p->offset + p->n)
        return in_buffer;
    if (offset < p->offset) {
        *length = least(*length, p->offset - offset);
        return in_buffer;
    }
    at = offset - p->offset;
    if (extent_end(p) <= extent_begin(p))
        extent_start(p, at);
    if (at > extent_end(p))
        return in_buffer;
    if (at < extent_begin(p)) {
        *length = least(*length, extent_begin(p) - at);
        return in_buffer;
    }
    *length = least(*length, p->n - at);
    *posted = true;
    return to + at;
}

void vmmc_posting_extend(struct vmmc_posting *p, uint64_t offset, size_t length)
{
    const size_t end = offset - p->offset + length;

    if (end > extent_end(p))
        atomic_store_explicit(&p->end, end, memory_order_release);
}

/* ---- calls ------------------------------------------------------------------- */

/* The one that may be copied by; a redirectable buffer has one sender. */
static struct vmmc_lane *redirect_lane(const struct vmmc_exported *e)
{
    const uint32_t writer = e->door->writer;

    return writer < gam_ranks(e->v->g) ? e->v->peer[writer].lane : NULL;
}

int vmmc_redirect(struct vmmc_exported *e, uint64_t offset, void *to, size_t n)
{
    struct vmmc_posting *p = &e->door->posting;

    if (!(e->flags & VMMC_REDIRECTABLE) || !to || n == 0 || offset > e->n || n > e->n - offset)
        return -EINVAL;
    if (posting_to(p))
        return -EBUSY;
    p->offset = offset;
    p->n = n;
    extent_start(p, 0);
    atomic_store_explicit(&p->to, (uintptr_t)to, memory_order_release);
    return 0;
}

static struct vmmc_redirected posting_result(const struct vmmc_posting *p)
{
    const size_t end = extent_end(p), begin = extent_begin(p);

    return end <= begin ? (struct vmmc_redirected){.first = p->n}
                        : (struct vmmc_redirected){begin, end - begin, p->n - end};
}

int vmmc_redirect_look(const struct vmmc_exported *e, struct vmmc_redirected *r)
{
    if (!posting_to(&e->door->posting))
        return -ENOENT;
    *r = posting_result(&e->door->posting);
    return 0;
}

/* Nobody writes there any more:
 *
 *   the owner                    a sender of this node
 *   to = 0                       copying = 1
 *   fence                   (A)  fence                       (B)
 *   copying is read              `to` is read; if it is set, bytes go there
 *                                copying = 0
 *
 * Either the sender sees that nothing is posted, or the owner that it copies, and waits.  One that
 * has died while it copied never says that it has ended. */
static void posting_withdraw(const struct vmmc_exported *e)
{
    struct vmmc_door *door = e->door;
    struct vmmc_lane *lane;

    atomic_store_explicit(&door->posting.to, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* A */
    if (atomic_load_explicit(&door->copying, memory_order_acquire) == 0)
        return;
    lane = redirect_lane(e);
    vmmc_lane_lock(lane);
    atomic_store_explicit(&door->copying, 0, memory_order_relaxed);
    vmmc_lane_unlock(lane);
}

int vmmc_redirect_end(struct vmmc_exported *e, struct vmmc_redirected *r)
{
    struct vmmc_stats *stats = &e->v->stats;
    struct vmmc_posting *p = &e->door->posting;

    if (!posting_to(p))
        return -ENOENT;
    posting_withdraw(e);
    *r = posting_result(p);
    stats->redirections++;
    stats->full += r->placed == p->n;
    stats->partial += r->placed > 0 && r->placed < p->n;
    return 0;
}
