/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.c - the times by which a receiver of several connections tells which had data first.
 *
 * The kernel's epoll tells first of what happened first.  Here some of it happens in rings and some
 * in the kernel, so a sender says for each direction when its data began to be unread, and when its
 * process last did anything that only the kernel tells: a receiver who knows of something later in
 * a ring asks the kernel first (epoll/order.c).  Who waits for one connection alone needs none of
 * this, and its sender reads no clock.
 */
#include "record/pause.h"
#include "stream/internal.h"

_Atomic uint32_t sockets_stream_any_upgraded;
static _Atomic uint64_t kernel_at, other_at;

static void note(_Atomic uint64_t *at, uint64_t now)
{
    uint64_t before = atomic_load(at);

    while (before < now && !atomic_compare_exchange_weak(at, &before, now))
        ;
}

void sockets_stream_note_kernel_now(bool other)
{
    const uint64_t now = sockets_now_ns();

    note(&kernel_at, now);
    if (other)
        note(&other_at, now);
}

uint64_t sockets_stream_own_kernel_at(void)
{
    return atomic_load_explicit(&kernel_at, memory_order_relaxed);
}

void sockets_stream_stamp_now(struct sockets_stream *s, uint32_t threads)
{
    /* Before `since`: what is not later than that is in the kernel. */
    const uint64_t at = atomic_load(&kernel_at);

    if (sockets_stream_is_quiet_but(s, threads) &&
        sockets_ring_unsent(s->tx, &s->record->tx.ring) == 0)
        atomic_store_explicit(&s->tx->since, sockets_now_ns(), memory_order_relaxed);
    atomic_store_explicit(&s->tx->kernel_at, at, memory_order_relaxed);
    atomic_store_explicit(&s->tx->other_at, atomic_load(&other_at), memory_order_relaxed);
}
