/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packets.c - a reliable endpoint's packets through the queues of the endpoint below: from the
 * engine, and to it.
 */
#include "endpoint.h"
#include <errno.h>
#include <string.h>

enum { RECEIVE_MAX = 256 }; /* packets in one go */

/* ---- receive buffers ------------------------------------------------------------------ */

/* Behind the send buffers: as many as the segment and the free queue have room for. */
uint32_t reliable_packets_buffers(const struct reliable_endpoint *r)
{
    const struct unet_config *c = &r->lower->config;
    const uint32_t count = c->segment_bytes / r->buffer_bytes;
    const uint32_t most = count > RELIABLE_SEND_BUFFERS ? count - RELIABLE_SEND_BUFFERS : 0;

    return most < c->free_slots ? most : c->free_slots;
}

int reliable_packets_open(struct reliable_endpoint *r)
{
    const uint32_t count = reliable_packets_buffers(r);
    int rc = 0;

    for (uint32_t i = 0; i < count && rc == 0; i++)
        rc =
            unet_free_put(r->lower, (RELIABLE_SEND_BUFFERS + i) * r->buffer_bytes, r->buffer_bytes);
    return rc;
}

/* ---- packets that arrived ------------------------------------------------------------ */

static void give_buffers_back(struct reliable_endpoint *r, const struct unet_desc *desc)
{
    for (uint32_t i = 0; i < desc->pieces; i++)
        unet_free_put(r->lower, desc->piece[i].offset, r->buffer_bytes);
}

/* A descriptor of kind UNET_DIRECT needs no action: whoever sent the data will ask for it. */
static void receive_one(struct reliable_endpoint *r, uint64_t now, const struct unet_desc *slot)
{
    const struct unet_desc desc = *slot;

    unet_rx_release(r->lower);
    if (desc.kind == UNET_INLINE)
        reliable_engine_receive(r->engine, now, desc.data, desc.length);
    if (desc.kind != UNET_PIECES)
        return;
    if (desc.pieces == 1 && desc.piece[0].offset % 8 == 0)
        reliable_engine_receive(r->engine, now, r->lower->segment + desc.piece[0].offset,
                                desc.length);
    else
        r->ni.ep.stats.malformed++;
    give_buffers_back(r, &desc);
}

int reliable_packets_receive(struct reliable_endpoint *r, uint64_t now)
{
    const struct unet_desc *slot;
    int count = 0;

    while (count < RECEIVE_MAX && (slot = unet_rx_peek(r->lower)) != NULL) {
        receive_one(r, now, slot);
        count++;
    }
    return count;
}

/* ---- packets to be sent ------------------------------------------------------------------ */

/* Send buffers are used in turn, because the send queue below empties in turn. */
static bool next_buffer_free(struct reliable_endpoint *r)
{
    const uint32_t n = r->buffer_next;

    if (r->busy[n] && unet_sent(r->lower, r->ticket[n]))
        r->busy[n] = false;
    return !r->busy[n];
}

/* A packet that was copied into a send buffer. */
struct departure {
    uint32_t buffer;
    uint16_t channel;
    uint32_t length;
};

static bool next_departure(struct reliable_endpoint *r, uint64_t now, struct departure *next)
{
    const void *packet;
    uint32_t rank;
    size_t length;

    if (!next_buffer_free(r) ||
        !(packet = reliable_engine_transmit(r->engine, now, &rank, &length)))
        return false;
    *next = (struct departure){r->buffer_next, r->channel_of[rank], (uint32_t)length};
    memcpy(r->lower->segment + next->buffer * r->buffer_bytes, packet, length);
    r->buffer_next = (next->buffer + 1) % RELIABLE_SEND_BUFFERS;
    return true;
}

/* A packet that the endpoint below does not accept is lost, as it might be on the way; then those
 * queued before it still have to go. */
static void depart(struct reliable_endpoint *r, const struct departure *d, bool more)
{
    const struct unet_piece piece = {d->buffer * r->buffer_bytes, d->length};
    uint32_t *ticket = &r->ticket[d->buffer];
    int rc;

    if (d->length <= UNET_INLINE_MAX)
        rc = unet_send_inline(r->lower, d->channel, 0, r->lower->segment + piece.offset,
                              piece.length);
    else if (more)
        rc = unet_send_more(r->lower, d->channel, 0, &piece, 1, ticket);
    else
        rc = unet_send(r->lower, d->channel, 0, &piece, 1, ticket);
    r->busy[d->buffer] = rc == 0 && d->length > UNET_INLINE_MAX;
    if (rc != 0 && !more)
        r->lower->ops->kick(r->lower, d->channel);
}

/* One packet ahead, so that the endpoint below is told of the last one that no more follow; and
 * again, with the send buffers that have become free by then. */
bool reliable_packets_send(struct reliable_endpoint *r, uint64_t now)
{
    struct departure one, next;
    bool any = false;

    while (next_departure(r, now, &one)) {
        for (bool more = true; more; one = next) {
            more = next_departure(r, now, &next);
            depart(r, &one, more);
        }
        any = true;
    }
    return any;
}
