/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable_move.c - a reliable endpoint's network interface: messages and packets, in and out.
 */
#include "reliable_state.h"
#include <errno.h>
#include <string.h>

enum { BUDGET = 256 }; /* packets taken in at a time */

/* ---- messages that arrived ---------------------------------------------------------- */

static void deliver_inline(struct gam_reliable *r, uint16_t channel, uint32_t user,
                           const void *data, size_t length)
{
    struct unet_ring *in = &r->line[channel].in;
    struct unet_desc *slot = unet_ring_reserve(in);

    if (!slot) {
        r->ep.stats.overruns++;
        return;
    }
    slot->channel = channel;
    slot->kind = UNET_INLINE;
    slot->pieces = 0;
    slot->length = (uint32_t)length;
    slot->user = user;
    if (length > 0)
        memcpy(slot->data, data, length);
    unet_ring_submit(in);
}

/* Told at once, before the message that will bring the buffer back: there may be as many buffers as
 * the ring can take, and one that finds no room there is lost. */
static void take_buffer(struct gam_reliable *r, struct gam_assembly *a)
{
    const struct unet_desc *slot = unet_ring_peek(&r->free);

    if (!slot)
        return;
    a->offset = (uint32_t)slot->word[0];
    a->room = (uint32_t)(slot->word[0] >> 32);
    unet_ring_release(&r->free);
    unet_ring_publish(&r->free);
}

static void assembly_begin(struct gam_reliable *r, struct gam_assembly *a)
{
    if (a->room == 0)
        take_buffer(r, a);
    a->length = 0;
    a->begun = true;
    a->spoilt = a->room == 0;
}

static void assembly_add(struct gam_reliable *r, struct gam_assembly *a, const void *data,
                         size_t length)
{
    if (a->spoilt || length > a->room - a->length) {
        a->spoilt = true;
        return;
    }
    memcpy(r->ep.segment + a->offset + a->length, data, length);
    a->length += (uint32_t)length;
}

static void assembly_end(struct gam_reliable *r, uint16_t channel, uint32_t user)
{
    struct unet_ring *in = &r->line[channel].in;
    struct gam_assembly *a = &r->line[channel].assembly;
    struct unet_desc *slot = a->spoilt ? NULL : unet_ring_reserve(in);

    a->begun = false;
    if (!slot) { /* the next one may have its buffer */
        r->ep.stats.overruns++;
        return;
    }
    slot->channel = channel;
    slot->kind = UNET_PIECES;
    slot->pieces = 1;
    slot->length = a->length;
    slot->user = user;
    slot->piece[0] = (struct unet_piece){a->offset, a->length};
    a->room = 0;
    unet_ring_submit(in);
}

/* GAM's windows leave room for every message; who exceeds them loses messages. */
void gam_reliable_deliver(void *arg, uint32_t source, uint32_t user, const void *data,
                          size_t length, bool more)
{
    struct gam_reliable *r = arg;
    const uint16_t channel = r->channel[source];
    struct gam_assembly *a = &r->line[channel].assembly;

    if (channel == 0)
        return;
    if (!a->begun && !more && length <= UNET_INLINE_MAX) {
        deliver_inline(r, channel, user, data, length);
        return;
    }
    if (!a->begun)
        assembly_begin(r, a);
    assembly_add(r, a, data, length);
    if (!more)
        assembly_end(r, channel, user);
}

void gam_reliable_died(void *arg, uint32_t rank)
{
    struct gam_reliable *r = arg;

    r->line[r->channel[rank]].silent = true;
}

/* ---- packets that arrived ------------------------------------------------------------ */

static void give_buffers_back(struct gam_reliable *r, const struct unet_desc *desc)
{
    for (uint32_t i = 0; i < desc->pieces; i++)
        unet_free_put(r->lower, desc->piece[i].offset, r->buffer_bytes);
}

static void receive_one(struct gam_reliable *r, uint64_t now, const struct unet_desc *slot)
{
    const struct unet_desc desc = *slot;

    unet_rx_release(r->lower);
    if (desc.kind == UNET_INLINE)
        gam_net_receive(r->net, now, desc.data, desc.length);
    if (desc.kind != UNET_PIECES)
        return; /* UNET_DIRECT: its sender will ask */
    if (desc.pieces == 1 && desc.piece[0].offset % 8 == 0)
        gam_net_receive(r->net, now, r->lower->segment + desc.piece[0].offset, desc.length);
    else
        r->ep.stats.malformed++;
    give_buffers_back(r, &desc);
}

int gam_receive_packets(struct gam_reliable *r, uint64_t now)
{
    const struct unet_desc *slot;
    int count = 0;

    while (count < BUDGET && (slot = unet_rx_peek(r->lower)) != NULL) {
        receive_one(r, now, slot);
        count++;
    }
    return count;
}

/* ---- messages to be sent --------------------------------------------------------------- */

static int take_one(struct gam_reliable *r, uint64_t now, const struct unet_desc *desc)
{
    const uint8_t *bytes =
        desc->kind == UNET_INLINE ? desc->data : r->ep.segment + desc->piece[0].offset;

    return gam_net_send(r->net, now, r->line[desc->channel].rank, desc->user, bytes, desc->length);
}

/* In order; one that finds no room in its peer's window holds up the others.  Sends to the dead
 * vanish: GAM asks for the channel's state. */
int gam_take_sends(struct gam_reliable *r, uint64_t now)
{
    const struct unet_desc *slot;
    int count = 0;

    while ((slot = unet_ring_peek(&r->tx)) != NULL) {
        const int rc = take_one(r, now, slot);

        if (rc == -EAGAIN || rc == -ENOMEM)
            break;
        unet_ring_release(&r->tx);
        count++;
    }
    unet_ring_publish(&r->tx);
    return count;
}

/* ---- packets to be sent ------------------------------------------------------------------ */

static bool buffer_free(struct gam_reliable *r)
{
    const uint32_t n = r->buffer_next;

    if (r->busy[n] && unet_sent(r->lower, r->ticket[n]))
        r->busy[n] = false;
    return !r->busy[n];
}

/* A packet that has been copied into the send buffer whose turn it was. */
struct departure {
    uint32_t buffer;
    uint16_t channel;
    uint32_t length;
};

static bool next_departure(struct gam_reliable *r, uint64_t now, struct departure *next)
{
    const void *packet;
    uint32_t rank;
    size_t length;

    if (!buffer_free(r) || !(packet = gam_net_transmit(r->net, now, &rank, &length)))
        return false;
    *next = (struct departure){r->buffer_next, r->channel[rank], (uint32_t)length};
    memcpy(r->lower->segment + next->buffer * r->buffer_bytes, packet, length);
    r->buffer_next = (next->buffer + 1) % GAM_RELIABLE_SENDS;
    return true;
}

/* What the endpoint below does not take is lost, as it may be on the way; those before it go. */
static void depart(struct gam_reliable *r, const struct departure *d, bool more)
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

/* One ahead, so that the endpoint below can take all at once; and again with the buffers of those
 * that have gone then. */
void gam_send_packets(struct gam_reliable *r, uint64_t now)
{
    struct departure one, next;

    while (next_departure(r, now, &one)) {
        for (bool more = true; more; one = next) {
            more = next_departure(r, now, &next);
            depart(r, &one, more);
        }
    }
}
