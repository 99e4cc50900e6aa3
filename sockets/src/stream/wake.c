/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wake.c - who sleeps at the other end of a stream, and whether it was woken.
 *
 * An epoll set that sleeps for several streams wakes by any of them, and looks at all
 * (epoll/together.c).  It says so by a value that it never uses again.
 */
#include "record/pause.h"
#include "spin/core.h"
#include "spin/spin.h"
#include "stream/internal.h"

/* By their values.  One that is displaced is woken once more. */
static _Atomic uint64_t woken[64];

static _Atomic uint64_t *woken_slot(uint64_t value)
{
    return &woken[value * 0x9e3779b97f4a7c15 >> 58];
}

/* A set clears its value before it is counted as asleep no longer, and writes it after it is.  So
 * the one that is counted is the set if it had the same value before and after. */
uint64_t sockets_stream_shared_sleeper(const struct sockets_stream *s)
{
    const uint64_t value = atomic_load_explicit(&s->tx->waiter, memory_order_acquire);
    const uint32_t armed = atomic_load_explicit(&s->tx->armed, memory_order_acquire);
    const bool dozes =
        atomic_load_explicit(&s->tx->dozing, memory_order_acquire) == SOCKETS_DOZE_SET;

    return armed + dozes == 1 && atomic_load_explicit(&s->tx->waiter, memory_order_relaxed) == value
               ? value
               : 0;
}

bool sockets_stream_was_woken(uint64_t sleeper)
{
    return sleeper != 0 && atomic_load(woken_slot(sleeper)) == sleeper;
}

void sockets_stream_note_woken(uint64_t sleeper)
{
    if (sleeper != 0)
        atomic_store(woken_slot(sleeper), sleeper);
}

void sockets_stream_stamp_wake(struct sockets_stream *s)
{
    atomic_store_explicit(&s->tx->woken_at, sockets_now_ns(), memory_order_relaxed);
}

void sockets_stream_learn_wake(const struct sockets_stream *s, uint64_t slept_at)
{
    const uint64_t woken_at = atomic_load_explicit(&s->rx->woken_at, memory_order_relaxed);
    const uint64_t now = sockets_now_ns();

    if (woken_at > slept_at && woken_at < now && !sockets_core_learn(now - woken_at))
        sockets_spin_learn(now - woken_at);
}
