/* SPDX-License-Identifier: BSD-3-Clause
 *
 * redirect.c - transfer redirection: where bytes of a redirectable buffer land.
 *
 * What has been written to the posted memory is one extent.  Bytes that would begin a second one go
 * to the buffer, so that two numbers tell the owner where everything is.  Bytes that are sent twice
 * go where their first copy is, so that no old copy is taken for the new one, until the posting is
 * full: it then takes nothing more, and its owner ends it without a word to any sender.
 */
#include "internal.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- of those who write ---------------------------------------------------------- */

static bool extent_is_of(const struct vmmc_extent *x, uint64_t number)
{
    return x->of == number && x->begin < x->end;
}

/* The owner may already write the next posting. */
static bool extent_is_full(const struct vmmc_extent *x, uint64_t number)
{
    return x->of == number && x->end - x->begin == x->n;
}

/* Whether a byte `at` behind the start of the posting belongs into its memory; *length is cut to
 * those behind it that belong to the same place. */
static bool extent_admits(const struct vmmc_extent *x, const struct vmmc_posting *p,
                          uint64_t number, size_t at, size_t *length)
{
    const bool begun = extent_is_of(x, number);

    if (begun && at > x->end)
        return false;
    if (begun && at < x->begin) {
        *length = least(*length, x->begin - at);
        return false;
    }
    *length = least(*length, p->n - at);
    return true;
}

uint64_t vmmc_posting_find(const struct vmmc_door *door, uint64_t offset, size_t *length,
                           uint64_t *posted)
{
    const struct vmmc_posting *p = &door->posting;
    const uint64_t number = atomic_load_explicit(&p->number, memory_order_acquire);

    *posted = 0;
    if (number == 0 || extent_is_full(&door->extent, number) || offset >= p->offset + p->n)
        return door->at + offset;
    if (offset < p->offset) {
        *length = least(*length, p->offset - offset);
        return door->at + offset;
    }
    if (!extent_admits(&door->extent, p, number, offset - p->offset, length))
        return door->at + offset;
    *posted = number;
    return p->to + (offset - p->offset);
}

/* At each step it is empty, or that of before, or what it should be. */
static void extent_tell_begin(struct vmmc_told_extent *told, const struct vmmc_extent *x)
{
    atomic_store_explicit(&told->end, 0, memory_order_relaxed);
    atomic_store_explicit(&told->of, x->of, memory_order_release);
    atomic_store_explicit(&told->begin, x->begin, memory_order_release);
}

void vmmc_posting_extend(struct vmmc_door *door, uint64_t posted, uint64_t offset, size_t length)
{
    struct vmmc_extent *x = &door->extent;
    const size_t begin = offset - door->posting.offset, end = begin + length;

    if (!extent_is_of(x, posted)) {
        *x = (struct vmmc_extent){posted, begin, end, door->posting.n};
        extent_tell_begin(&door->told, x);
    } else if (end > x->end) {
        x->end = end;
    }
    atomic_store_explicit(&door->told.end, x->end, memory_order_release);
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
    if (e->posted > 0)
        return -EBUSY;
    p->to = (uintptr_t)to;
    p->offset = offset;
    p->n = n;
    e->posted = n;
    atomic_store_explicit(&p->number, ++e->postings, memory_order_release);
    return 0;
}

/* Written word by word where the caller reads it: a copy of the whole would wait for stores that
 * wait for a cache line of another processor.  What the extent covers is in place, if its end is
 * read first.  A sender that tells of more than was posted is not believed: callers copy by this.
 */
static inline void posting_tell(const struct vmmc_exported *e, struct vmmc_redirected *r)
{
    const struct vmmc_told_extent *told = &e->door->told;
    const bool ours = atomic_load_explicit(&told->of, memory_order_acquire) == e->postings;
    const size_t all = ours ? atomic_load_explicit(&told->end, memory_order_acquire) : 0;
    const size_t end = least(all, e->posted);
    const size_t begin = ours ? atomic_load_explicit(&told->begin, memory_order_relaxed) : 0;

    r->first = begin < end ? begin : e->posted;
    r->placed = begin < end ? end - begin : 0;
    r->last = begin < end ? e->posted - end : 0;
}

int vmmc_redirect_look(const struct vmmc_exported *e, struct vmmc_redirected *r)
{
    if (e->posted == 0)
        return -ENOENT;
    posting_tell(e, r);
    return 0;
}

/* Nobody writes there any more:
 *
 *   the owner                    a sender of this node
 *   number = 0                   copying = 1
 *   fence                   (A)  fence                       (B)
 *   copying is read              number is read; if it is set, bytes go there
 *                                copying = 0
 *
 * Either the sender sees that nothing is posted, or the owner that it copies, and waits.  One that
 * has died while it copied never says that it has ended. */
static void posting_withdraw(const struct vmmc_exported *e)
{
    struct vmmc_door *door = e->door;
    struct vmmc_lane *lane;

    atomic_store_explicit(&door->posting.number, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* A */
    if (atomic_load_explicit(&door->copying, memory_order_acquire) == 0)
        return;
    lane = redirect_lane(e);
    vmmc_lane_lock(lane);
    atomic_store_explicit(&door->copying, 0, memory_order_relaxed);
    vmmc_lane_unlock(lane);
}

/* No sender looks at a full one any more.  Who receives is likely to answer: what is posted for
 * that is fetched while the caller reads what has come. */
static void posting_end_full(struct vmmc_exported *e)
{
    __builtin_prefetch(e->v->copied_to);
    e->v->stats.full++;
}

static void posting_end_early(struct vmmc_exported *e, struct vmmc_redirected *r)
{
    posting_withdraw(e);
    posting_tell(e, r);
    if (r->placed == e->posted)
        e->v->stats.full++;
    else if (r->placed > 0)
        e->v->stats.partial++;
}

int vmmc_redirect_end(struct vmmc_exported *e, struct vmmc_redirected *r)
{
    if (e->posted == 0)
        return -ENOENT;
    posting_tell(e, r);
    if (r->placed == e->posted)
        posting_end_full(e);
    else
        posting_end_early(e, r);
    e->posted = 0;
    e->v->stats.redirections++;
    return 0;
}
