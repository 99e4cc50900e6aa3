/* SPDX-License-Identifier: BSD-3-Clause
 *
 * gate.c - the receiver's use of a direction's gate, under the receiver's lock.
 *
 * Who has the gate reads from TCP while the sender cannot enter the ring.  That is for the time of
 * the lock, but for one thread that keeps it while it sleeps in the kernel (direct.c).  As it takes
 * and gives the gate under the lock, whoever has the lock meanwhile may read from TCP with it: what
 * has come is for the first of this side's threads, as over plain TCP, and the one that sleeps may
 * be stopped, or the same thread before a signal.
 */
#include "real/real.h"
#include "record/pause.h"
#include "stream/internal.h"
#include <errno.h>
#include <sched.h>

enum { GATE_NS = 200000 }; /* how long a sender may hold the gate */

/* The sender holds the gate for some instructions, before which TCP was empty; if it was killed
 * there, TCP tells.  False: it holds the gate, and there is nothing. */
static bool wait_for_sender(struct sockets_stream *s, int fd)
{
    const uint64_t until = sockets_now_ns() + GATE_NS;

    while (atomic_load(&s->rx->gate) == SOCKETS_GATE_SENDER && sockets_now_ns() < until)
        sched_yield();
    if (atomic_load(&s->rx->gate) == SOCKETS_GATE_SENDER && sockets_stream_tcp_is_silent(fd))
        return false;
    atomic_store(&s->rx->gate, SOCKETS_GATE_RECEIVER);
    return true;
}

bool sockets_stream_shares_gate(const struct sockets_stream *s)
{
    const uint32_t reader = s->record->rx.reader;

    return __builtin_expect(reader != 0, 0) && !sockets_thread_is_dead(reader);
}

bool sockets_stream_take_gate(struct sockets_stream *s, int fd)
{
    uint32_t open = SOCKETS_GATE_OPEN;

    if (sockets_stream_shares_gate(s))
        return false;
    if (!atomic_compare_exchange_strong(&s->rx->gate, &open, SOCKETS_GATE_RECEIVER) &&
        open == SOCKETS_GATE_SENDER && !wait_for_sender(s, fd))
        return false;
    s->record->rx.reader = sockets_thread_id();
    return true;
}

void sockets_stream_give_gate(struct sockets_stream *s)
{
    s->record->rx.reader = 0;
    atomic_store_explicit(&s->rx->gate, SOCKETS_GATE_OPEN, memory_order_release);
}
