/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - the messages that a link sends.
 */
#include "net/link.h"
#include "real/hidden.h"
#include "stream/internal.h"
#include <errno.h>
#include <stdlib.h>

enum {
    ACKS = 16,                           /* messages on their way that only say what was taken */
    WINDOW = SOCKETS_LANE_WINDOW - ACKS, /* and others */
    WINDOW_LEAST = 2,                    /* or each acknowledgement would be acknowledged */
};

/* ---- the path dies ------------------------------------------------------------------- */

void sockets_link_lose(struct sockets_link *link)
{
    link->state = SOCKETS_LINK_LOST;
    atomic_store(&link->carrier.lost, 1);
    sockets_link_note_seen(link);
}

void sockets_link_fall_back(struct sockets_link *link)
{
    struct sockets_stream *s = link->stream;

    if (link->state != SOCKETS_LINK_NETWORK)
        return;
    link->state = SOCKETS_LINK_CONTROL;
    sockets_lane_kill(link->lane);
    link->pushed = atomic_load(&link->carrier.arrived);
    link->owing = true;
    atomic_store(&s->record->pinned, 1);
    atomic_store(&s->rx->want_tcp, 1);
    if (!atomic_load(&s->tx->gone) && !atomic_load(&s->rx->fin))
        atomic_store(&s->record->reason, SOCKETS_PATH);
}

/* ---- messages out -------------------------------------------------------------------- */

uint32_t sockets_link_many = 16, sockets_link_window = WINDOW;

static uint32_t number_of(const char *variable, uint32_t otherwise)
{
    const char *text = getenv(variable);
    char *end;
    const unsigned long value = text ? strtoul(text, &end, 10) : 0;

    return text && *text && !*end && value < UINT32_MAX ? (uint32_t)value : otherwise;
}

void sockets_link_init(void)
{
    const uint32_t window = number_of("UNETSOCK_NET_WINDOW", WINDOW);

    sockets_link_many = number_of("UNETSOCK_NET_MANY", sockets_link_many);
    if (window >= WINDOW_LEAST && window <= WINDOW)
        sockets_link_window = window;
}

static int link_send(struct sockets_link *link, const struct sockets_wire *wire, const char *data)
{
    const struct iovec iov[2] = {{(void *)wire, sizeof(*wire)}, {(void *)data, wire->length}};

    if (link->state == SOCKETS_LINK_NETWORK)
        return sockets_lane_send(link->lane, iov, wire->length ? 2 : 1);
    return sockets_wire_write(&link->writer, link->control, wire, data);
}

/* The words of this end.  What is read first is not newer than what is read behind it: an end has
 * its phase, and a phase its bytes. */
static void describe(const struct sockets_link *link, struct sockets_wire *wire, uint64_t *tail)
{
    const struct sockets_stream *s = link->stream;

    *wire = (struct sockets_wire){0};
    if (atomic_load(&s->tx->recall))
        wire->flags |= SOCKETS_WIRE_HEARD;
    if (atomic_load_explicit(&s->tx->fin, memory_order_acquire))
        wire->flags |= SOCKETS_WIRE_FIN;
    wire->phase = atomic_load_explicit(&s->tx->phase, memory_order_acquire);
    if (!sockets_phase_is_ring(wire->phase) &&
        atomic_load_explicit(&s->record->tx.returned, memory_order_acquire) == wire->phase - 1)
        wire->flags |= SOCKETS_WIRE_RETURNED;
    wire->bells = atomic_load_explicit(&s->tx->bells, memory_order_acquire);
    wire->sent = atomic_load_explicit(&s->tx->sent, memory_order_acquire);
    *tail = atomic_load_explicit(&s->tx->tail, memory_order_acquire);
}

static void describe_receiver(const struct sockets_link *link, struct sockets_wire *wire)
{
    const struct sockets_stream *s = link->stream;

    wire->flags &= SOCKETS_WIRE_SENDER;
    /* A recall is told of no later than that TCP is wanted; and a recalled ring is not read any
     * more: its head is the last one. */
    if (atomic_load_explicit(&s->rx->want_tcp, memory_order_acquire))
        wire->flags |= SOCKETS_WIRE_WANT_TCP;
    if (atomic_load_explicit(&s->rx->recall, memory_order_acquire))
        wire->flags |= SOCKETS_WIRE_RECALL;
    if (atomic_load_explicit(&s->rx->armed, memory_order_acquire))
        wire->flags |= SOCKETS_WIRE_ARMED;
    if (atomic_load_explicit(&s->rx->gone, memory_order_acquire))
        wire->flags |= SOCKETS_WIRE_GONE;
    if (link->rests)
        wire->flags |= SOCKETS_WIRE_RESTS;
    if (atomic_load(&link->looks))
        wire->flags |= SOCKETS_WIRE_LOOKS;
    if ((link->rests & SOCKETS_REST_JUDGED) && s->is_server)
        wire->flags |= SOCKETS_WIRE_TCP;
    wire->lets = atomic_load_explicit(&s->rx->lets, memory_order_acquire);
    wire->seen = atomic_load_explicit(&s->rx->phase, memory_order_acquire);
    wire->head = atomic_load_explicit(&s->rx->head, memory_order_acquire);
    wire->taken = atomic_load_explicit(&s->rx->taken, memory_order_acquire);
    wire->arrived = link->ring.tail;
    wire->taken_in = link->in;
}

/* The next bytes of the ring, as far as they lie in one piece.  A phase that ends is told with the
 * last of them. */
static const char *next_bytes(const struct sockets_link *link, struct sockets_wire *wire,
                              uint64_t tail)
{
    const struct sockets_stream *s = link->stream;
    const char *data = NULL;
    size_t bytes = 0;

    if (tail != link->pushed)
        bytes = sockets_ring_written(&s->record->tx.ring, s->tx_data, link->pushed, tail, &data);
    if (bytes > SOCKETS_WIRE_BYTES)
        bytes = SOCKETS_WIRE_BYTES;
    wire->offset = link->pushed;
    wire->length = (uint16_t)bytes;
    if (link->pushed + bytes != tail && !sockets_phase_is_ring(wire->phase)) {
        wire->phase--;
        wire->flags &= ~(SOCKETS_WIRE_FIN | SOCKETS_WIRE_RETURNED);
    }
    return data;
}

static bool has_room(const struct sockets_link *link, uint32_t most)
{
    return link->state == SOCKETS_LINK_CONTROL || link->out - link->out_taken < most;
}

/* To be sent later, and by the agent unless somebody else comes first. */
static void put_off(struct sockets_link *link)
{
    link->owing = true;
    if (!link->handed)
        sockets_link_wake();
    link->handed = true;
}

/* Returns whether it was sent. */
static bool link_send_next(struct sockets_link *link, struct sockets_wire *wire, const char *data)
{
    int error;

    describe_receiver(link, wire);
    error = link_send(link, wire, data);
    if (error == -EAGAIN) {
        put_off(link);
        return false;
    }
    if (error < 0) {
        if (link->state == SOCKETS_LINK_NETWORK)
            sockets_link_fall_back(link);
        else
            sockets_link_lose(link);
        return false;
    }
    link->out++;
    if ((wire->flags & SOCKETS_WIRE_RESTS) && !(link->last.flags & SOCKETS_WIRE_RESTS))
        link->rest_told = link->out;
    link->in_told = link->in;
    link->pushed += wire->length;
    link->head_told = wire->head;
    link->taken_told = wire->taken;
    link->last = *wire;
    if (sockets_wire_is_behind(&link->writer))
        link->owing = true;
    return true;
}

bool sockets_link_has_told(const struct sockets_link *link)
{
    struct sockets_wire wire = link->last;

    describe_receiver(link, &wire);
    return wire.flags == link->last.flags && wire.lets == link->last.lets &&
           wire.seen == link->last.seen && wire.head == link->last.head &&
           wire.taken == link->last.taken && wire.arrived == link->last.arrived;
}

/* All that is new; under the lock. */
void sockets_link_flush(struct sockets_link *link)
{
    struct sockets_wire wire;
    uint64_t tail;

    if (link->state == SOCKETS_LINK_LOST || !link->stream)
        return;
    link->owing = false;
    do {
        const char *data;

        if (!has_room(link, sockets_link_window)) {
            put_off(link);
            return;
        }
        describe(link, &wire, &tail);
        data = next_bytes(link, &wire, tail);
        if (!link_send_next(link, &wire, data))
            return;
    } while (link->pushed != tail);
}

/* Say what was taken in, and nothing new of what this end sends; but that it was in the ring: to
 * one that says it rests (link.c) it must not seem that this end has known so in time. */
void sockets_link_acknowledge(struct sockets_link *link)
{
    const uint32_t phase = atomic_load(&link->stream->tx->phase);
    const uint32_t ring = sockets_phase_is_ring(phase) ? phase : phase - 1;
    struct sockets_wire wire = link->last;

    if ((int32_t)(ring - wire.phase) > 0)
        wire.phase = ring;
    wire.offset = link->pushed;
    wire.length = 0;
    if (link->state != SOCKETS_LINK_LOST && has_room(link, WINDOW + ACKS))
        link_send_next(link, &wire, NULL);
}
