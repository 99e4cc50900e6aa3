/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - the messages that a link receives.
 */
#include "net/link.h"
#include "record/pause.h"
#include "stream/internal.h"
#include <errno.h>
#include <string.h>

enum { KILLED_NS = 20000000 }; /* for the last messages of a peer that was killed */

/* ---- messages in --------------------------------------------------------------------- */

static void take_flags(struct sockets_stream *s, uint16_t flags)
{
    atomic_store(&s->tx->armed, (flags & SOCKETS_WIRE_ARMED) != 0);
    atomic_store(&s->carrier->looks, (flags & SOCKETS_WIRE_LOOKS) != 0);
    if (flags & SOCKETS_WIRE_WANT_TCP)
        atomic_store(&s->tx->want_tcp, 1);
    if (flags & SOCKETS_WIRE_GONE)
        atomic_store(&s->tx->gone, 1);
    atomic_store(&s->tx->recall, (flags & SOCKETS_WIRE_RECALL) != 0);
}

/* The other end reads the ring no more: as a receiver on this machine, with the gate, so that the
 * sender either gives back what was not read or had left the ring before.  False: later. */
static bool take_recall(struct sockets_link *link, const struct sockets_wire *wire)
{
    struct sockets_stream *s = link->stream;
    uint32_t open = SOCKETS_GATE_OPEN;

    if (!(wire->flags & SOCKETS_WIRE_RECALL) || atomic_load(&s->tx->recall))
        return true;
    if (!atomic_compare_exchange_strong(&s->tx->gate, &open, SOCKETS_GATE_RECEIVER))
        return false;
    atomic_store(&s->tx->head, wire->head);
    atomic_store(&s->tx->want_tcp, 1);
    atomic_store(&s->tx->recall, 1);
    atomic_store_explicit(&s->tx->gate, SOCKETS_GATE_OPEN, memory_order_release);
    link->owing = true; /* the other end waits to hear of that */
    return true;
}

/* The other end looks at no ring: none is entered from now on.  With the gate, so that what is
 * answered to that tells of one that was entered before.  False: later. */
static bool take_rest(struct sockets_link *link, const struct sockets_wire *wire)
{
    const bool rests = (wire->flags & SOCKETS_WIRE_RESTS) != 0;
    struct sockets_stream *s = link->stream;
    uint32_t open = SOCKETS_GATE_OPEN;

    if (rests == (atomic_load(&link->carrier.rests) != 0))
        return true;
    if (!atomic_compare_exchange_strong(&s->tx->gate, &open, SOCKETS_GATE_RECEIVER))
        return false;
    if (!rests) /* not before it is known that somebody sleeps */
        atomic_store(&s->tx->armed, (wire->flags & SOCKETS_WIRE_ARMED) != 0);
    atomic_store(&link->carrier.rests, rests);
    atomic_store_explicit(&s->tx->gate, SOCKETS_GATE_OPEN, memory_order_release);
    link->owing |= rests; /* the other end waits to hear of that */
    return true;
}

/* Behind what tells whether the reader has taken its bell. */
static void take_arrived(struct sockets_link *link, uint64_t arrived)
{
    if (arrived <= atomic_load(&link->carrier.arrived) ||
        arrived > atomic_load(&link->stream->tx->tail))
        return;
    if (arrived > link->pushed) /* before the path died, and need not be sent again */
        link->pushed = arrived;
    atomic_store_explicit(&link->carrier.arrived, arrived, memory_order_release);
}

static void take_receivers_half(struct sockets_link *link, const struct sockets_wire *wire)
{
    struct sockets_stream *s = link->stream;
    const bool news = wire->seen != atomic_load_explicit(&link->seen, memory_order_relaxed) ||
                      (wire->flags & SOCKETS_WIRE_GONE);

    atomic_store_explicit(&s->tx->head, wire->head, memory_order_release);
    atomic_store_explicit(&s->tx->taken, wire->taken, memory_order_release);
    if (wire->lets != link->lets)
        atomic_store(&s->tx->belled, 0);
    link->lets = wire->lets;
    link->out_taken = wire->taken_in;
    take_arrived(link, wire->arrived);
    atomic_store_explicit(&link->seen, wire->seen, memory_order_release);
    take_flags(s, wire->flags);
    if (news)
        sockets_link_note_seen(link);
    link->told_to_rest = (wire->flags & SOCKETS_WIRE_TCP) != 0;
}

/* The ring's bytes, as its sender would write them.  What came before is left out. */
static int take_bytes(struct sockets_link *link, const struct sockets_wire *wire, const char *data)
{
    struct sockets_stream *s = link->stream;
    const uint64_t before = link->ring.tail - wire->offset;
    struct iovec iov = {(char *)data, wire->length};
    struct sockets_cursor cursor = {&iov, 1, 0};
    ssize_t n;

    if (before > wire->length)
        return wire->offset > link->ring.tail ? -EPROTO : 0;
    iov.iov_base = (char *)data + before;
    iov.iov_len -= before;
    if (iov.iov_len == 0)
        return 0;
    if (atomic_load_explicit(&s->rx->ordered, memory_order_relaxed) &&
        !sockets_stream_has_unread(s))
        atomic_store_explicit(&s->rx->since, sockets_now_ns(), memory_order_relaxed);
    n = sockets_ring_write(s->rx, &link->ring, s->rx_data, &cursor, SOCKETS_RING_LOG_MIN);
    link->owing |= sockets_link_is_being_left(s); /* the other end waits to hear of that */
    return n == (ssize_t)iov.iov_len ? 0 : -EPROTO;
}

/* The sender was told that somebody spins: did it help? */
static void note_entered(struct sockets_link *link)
{
    if (atomic_load(&link->stream->rx->armed) == 0)
        link->tell_log = 0;
    link->told = false;
}

/* As a sender that changes its phase: with the gate, while nobody reads from TCP.  False: later. */
static bool take_senders_half(struct sockets_link *link, const struct sockets_wire *wire,
                              const char *data, int *error)
{
    struct sockets_stream *s = link->stream;
    const uint32_t phase = atomic_load_explicit(&s->rx->phase, memory_order_relaxed);
    const bool changes = (int32_t)(wire->phase - phase) > 0;
    uint32_t open = SOCKETS_GATE_OPEN;

    if (changes && !atomic_compare_exchange_strong(&s->rx->gate, &open, SOCKETS_GATE_SENDER))
        return false;
    *error = take_bytes(link, wire, data);
    atomic_store_explicit(&s->rx->sent, wire->sent, memory_order_release);
    atomic_store_explicit(&s->rx->bells, wire->bells, memory_order_release);
    /* Whoever waits for the end of a recall reads in the other order: heard, phase, returned. */
    atomic_store(&link->returned, (wire->flags & SOCKETS_WIRE_RETURNED) != 0);
    if (changes) {
        atomic_store_explicit(&s->rx->phase, wire->phase, memory_order_release);
        atomic_store_explicit(&s->rx->gate, SOCKETS_GATE_OPEN, memory_order_release);
        if (sockets_phase_is_ring(wire->phase))
            note_entered(link);
        link->owing = true; /* the other end waits to hear of that */
    }
    if (wire->flags & SOCKETS_WIRE_FIN)
        atomic_store(&s->rx->fin, 1);
    if (wire->flags & SOCKETS_WIRE_HEARD)
        atomic_store(&link->heard, true);
    return true;
}

/* False: it has to be taken later. */
static bool link_take(struct sockets_link *link, const struct sockets_wire *wire, const char *data)
{
    int error = 0;

    if (!take_recall(link, wire) || !take_rest(link, wire) ||
        !take_senders_half(link, wire, data, &error))
        return false;
    take_receivers_half(link, wire);
    link->in++;
    if (error < 0) {
        atomic_fetch_add(&sockets_counters->broken, 1);
        sockets_link_lose(link);
    }
    return true;
}

/* A message of the lane's; the authentic peer sends none that is not sound. */
static bool take_message(void *argument, const char *message, size_t bytes)
{
    struct sockets_link *link = argument;
    struct sockets_wire wire;

    if (link->state != SOCKETS_LINK_NETWORK || bytes < sizeof(wire))
        return true;
    memcpy(&wire, message, sizeof(wire));
    return !sockets_wire_is_sound(&wire, bytes) || link_take(link, &wire, message + sizeof(wire));
}

void sockets_link_take_network(struct sockets_link *link)
{
    sockets_lane_take(link->lane, take_message, link);
}

/* The peer was killed, and what it sent last may still be on its way by the network. */
static bool may_still_come(struct sockets_link *link)
{
    const uint64_t now = sockets_now_ns();

    if (link->state != SOCKETS_LINK_NETWORK || atomic_load(&link->stream->rx->fin))
        return false;
    if (link->ended_ns == 0)
        link->ended_ns = now;
    return now - link->ended_ns < KILLED_NS;
}

void sockets_link_take_control(struct sockets_link *link)
{
    const int fd = link->control;
    int got;

    while (link->state != SOCKETS_LINK_LOST) {
        if (!link->later && (got = sockets_wire_read(&link->reader, fd)) <= 0) {
            if (got < 0 && !may_still_come(link))
                sockets_link_lose(link);
            return;
        }
        sockets_link_fall_back(link);
        link->later = !link_take(link, &link->reader.message.wire, link->reader.message.data);
        if (link->later)
            return;
    }
}
