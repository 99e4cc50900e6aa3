/* SPDX-License-Identifier: BSD-3-Clause
 *
 * messages.c - a reliable endpoint's messages: from its send queue to the engine, and from the
 * engine to its receive rings.
 */
#include "endpoint.h"
#include <errno.h>
#include <string.h>

/* ---- messages that arrived ---------------------------------------------------------- */

static void ring_submit(struct reliable_endpoint *r, uint16_t channel)
{
    unet_ring_submit(&r->ni.in[channel]);
    unet_rx_mark_filled(&r->ni.ep, channel);
}

static void deliver_inline(struct reliable_endpoint *r, uint16_t channel, uint32_t user,
                           const void *data, size_t length)
{
    struct unet_ring *in = &r->ni.in[channel];
    struct unet_desc *slot = unet_ring_reserve(in);

    if (!slot) {
        r->ni.ep.stats.overruns++;
        return;
    }
    slot->channel = channel;
    slot->kind = UNET_INLINE;
    slot->pieces = 0;
    slot->length = (uint32_t)length;
    slot->user = user;
    if (length > 0)
        memcpy(slot->data, data, length);
    ring_submit(r, channel);
    r->peer[channel].assembly.unplaced = in->position;
}

/* The consumer's position is published at once.  There may be as many buffers as the ring has
 * slots, and the message brings its buffer back: one that found no free slot would be lost. */
static void buffers_collect(struct reliable_endpoint *r)
{
    const struct unet_desc *slot;

    while (r->buffers < r->ni.ep.config.free_slots && (slot = unet_ring_peek(&r->ni.free))) {
        r->buffer[r->buffers++] = slot->word[0];
        unet_ring_release(&r->ni.free);
    }
    unet_ring_publish(&r->ni.free);
}

/* The one that the owner gave back last is in the cache; and those that are never needed are not
 * touched, which would cost a page fault each. */
static void assembly_take_buffer(struct reliable_endpoint *r, struct reliable_assembly *a)
{
    buffers_collect(r);
    if (r->buffers == 0)
        return;
    r->buffers--;
    a->offset = (uint32_t)r->buffer[r->buffers];
    a->room = (uint32_t)(r->buffer[r->buffers] >> 32);
}

/* A message must not land before the owner has read those that came before it, because both may
 * write to the same memory.  Those that were placed have landed already. */
static bool placement_in_order(const struct reliable_endpoint *r, const struct reliable_assembly *a,
                               uint16_t channel)
{
    return !r->kept_alive && (int32_t)(r->ni.ep.rx[channel].position - a->unplaced) >= 0;
}

/* A message whose first part has its header may go straight to its place. */
static bool assembly_place(struct reliable_endpoint *r, struct reliable_assembly *a,
                           uint16_t channel, uint32_t user, const void *data, size_t length)
{
    if (!r->placement || length < UNET_PLACED_HEADER || !placement_in_order(r, a, channel))
        return false;
    memcpy(a->header, data, UNET_PLACED_HEADER);
    a->room_there = r->placement(r->placement_arg, channel, user, a->header, &a->place);
    return a->room_there > 0;
}

static void assembly_begin(struct reliable_endpoint *r, struct reliable_assembly *a)
{
    if (!a->placed && a->room == 0)
        assembly_take_buffer(r, a);
    a->length = 0;
    a->begun = true;
    a->dropped = !a->placed && a->room == 0;
}

static void assembly_add(struct reliable_endpoint *r, struct reliable_assembly *a, const void *data,
                         size_t length)
{
    const size_t room = a->placed ? a->room_there : a->room;

    if (a->dropped || length > room - a->length) {
        a->dropped = true;
        return;
    }
    if (a->placed)
        unet_place_copy(&a->place, data, length);
    else
        memcpy(r->ni.ep.segment + a->offset + a->length, data, length);
    a->length += (uint32_t)length;
}

static void deliver_placed(const struct reliable_assembly *a, struct unet_desc *slot)
{
    slot->kind = UNET_PLACED;
    slot->pieces = 0;
    slot->length = UNET_PLACED_HEADER + a->length;
    memcpy(slot->data, a->header, sizeof(a->header));
}

static void deliver_buffer(struct reliable_assembly *a, struct unet_desc *slot)
{
    slot->kind = UNET_PIECES;
    slot->pieces = 1;
    slot->length = a->length;
    slot->piece[0] = (struct unet_piece){a->offset, a->length};
    a->room = 0;
}

/* A message that cannot be delivered, or needs no buffer after all, leaves that to the next one. */
static void assembly_end(struct reliable_endpoint *r, uint16_t channel, uint32_t user)
{
    struct unet_ring *in = &r->ni.in[channel];
    struct reliable_assembly *a = &r->peer[channel].assembly;
    struct unet_desc *slot = a->dropped ? NULL : unet_ring_reserve(in);

    a->begun = false;
    if (!a->dropped && !a->placed && a->length == 0) {
        deliver_inline(r, channel, user, NULL, 0);
        return;
    }
    if (!slot) {
        r->ni.ep.stats.overruns++;
        return;
    }
    slot->channel = channel;
    slot->user = user;
    if (a->placed)
        deliver_placed(a, slot);
    else
        deliver_buffer(a, slot);
    ring_submit(r, channel);
    if (!a->placed)
        a->unplaced = in->position;
}

/* The layer above has to leave room for every message that its peers may send, as GAM does by its
 * credits.  What comes beyond that is dropped and counted. */
void reliable_messages_deliver(void *arg, uint32_t source, uint32_t user, const void *data,
                               size_t length, bool more)
{
    struct reliable_endpoint *r = arg;
    const uint16_t channel = r->channel_of[source];
    struct reliable_assembly *a = &r->peer[channel].assembly;
    const uint8_t *bytes = data;

    if (channel == 0)
        return;
    if (!a->begun && !more && length <= UNET_INLINE_MAX) {
        deliver_inline(r, channel, user, bytes, length);
        return;
    }
    if (!a->begun) {
        a->placed = assembly_place(r, a, channel, user, bytes, length);
        assembly_begin(r, a);
        bytes += a->placed ? UNET_PLACED_HEADER : 0;
        length -= a->placed ? UNET_PLACED_HEADER : 0;
    }
    assembly_add(r, a, bytes, length);
    if (!more)
        assembly_end(r, channel, user);
}

/* ---- messages to be sent --------------------------------------------------------------- */

static int send_pieces(struct reliable_endpoint *r, uint64_t now, const struct unet_desc *desc)
{
    const int error = unet_check_pieces(desc, r->ni.ep.config.segment_bytes);
    struct iovec iov[UNET_PIECES_MAX];

    if (error)
        return error;
    for (uint32_t i = 0; i < desc->pieces; i++)
        iov[i] = (struct iovec){r->ni.ep.segment + desc->piece[i].offset, desc->piece[i].length};
    return reliable_engine_sendv(r->engine, now, r->peer[desc->channel].rank, desc->user, iov,
                                 desc->pieces);
}

static int send_one(struct reliable_endpoint *r, uint64_t now, const struct unet_desc *desc)
{
    const bool open = desc->channel <= r->ni.ep.config.channels &&
                      r->ni.ep.channel[desc->channel].state == UNET_OPEN;
    int rc;

    if (!open)
        return unet_not_open(&r->ni.ep, desc->channel);
    rc = reliable_stream_leave(r, now, desc->channel);
    if (rc)
        return rc;
    if (desc->kind == UNET_INLINE && desc->length <= UNET_INLINE_MAX)
        return reliable_engine_send(r->engine, now, r->peer[desc->channel].rank, desc->user,
                                    desc->data, desc->length);
    if (desc->kind == UNET_PIECES)
        return send_pieces(r, now, desc);
    return desc->kind == UNET_INLINE ? -EMSGSIZE : -EINVAL;
}

/* In order: a message that finds no room in its peer's window holds up those behind it. */
int reliable_messages_send(struct reliable_endpoint *r, uint64_t now)
{
    const struct unet_desc *slot;
    int count = 0;

    while ((slot = unet_ring_peek(&r->ni.tx)) != NULL) {
        const int rc = send_one(r, now, slot);

        if (rc == -EAGAIN || rc == -ENOMEM)
            break;
        if (rc)
            unet_refuse(&r->ni.ep, &r->ni.errors, slot, rc);
        unet_ring_release(&r->ni.tx);
        count++;
    }
    unet_ring_publish(&r->ni.tx);
    return count;
}

static bool append_one(struct reliable_endpoint *r, const struct unet_desc *desc)
{
    const struct iovec iov = {(void *)desc->data, desc->length};

    return desc->kind == UNET_INLINE && desc->length <= UNET_INLINE_MAX &&
           desc->channel <= r->ni.ep.config.channels &&
           r->ni.ep.channel[desc->channel].state == UNET_OPEN && reliable_stream_is_left(r) &&
           reliable_engine_append(r->engine, r->peer[desc->channel].rank, desc->user, &iov, 1);
}

bool reliable_messages_append(struct reliable_endpoint *r)
{
    const struct unet_desc *slot;

    while ((slot = unet_ring_peek(&r->ni.tx)) != NULL && append_one(r, slot))
        unet_ring_release(&r->ni.tx);
    unet_ring_publish(&r->ni.tx);
    return slot == NULL;
}
