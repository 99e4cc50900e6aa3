/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ni.c - servicing the send queue.
 */
#include "shared_memory/shared_memory.h"

#include <errno.h>
#include <string.h>

/* ---- copying ---------------------------------------------------------------- */

struct cursor {
    uint8_t *segment;
    const struct unet_piece *piece;
    uint32_t done; /* bytes of *piece */
};

/* The longest run at the cursor, stepping over pieces that are used up. */
static uint32_t run(struct cursor *c)
{
    while (c->done == c->piece->length) {
        c->piece++;
        c->done = 0;
    }
    return c->piece->length - c->done;
}

/* Copy `length` bytes, of which both sides have as many. */
static void copy(struct cursor to, struct cursor from, uint32_t length)
{
    while (length > 0) {
        uint32_t there = run(&to);
        uint32_t here = run(&from);
        uint32_t n = here < there ? here : there;

        memcpy(to.segment + to.piece->offset + to.done,
               from.segment + from.piece->offset + from.done, n);
        to.done += n;
        from.done += n;
        length -= n;
    }
}

/* ---- one descriptor ----------------------------------------------------------- */

static int place_pieces(struct lane_endpoint *le, const struct lane_area *peer,
                        const struct unet_desc *desc, struct unet_desc *slot)
{
    struct unet_piece piece[UNET_PIECES_MAX] = {0};
    uint8_t count = 0;
    int error = unet_check_pieces(desc, le->own.segment_bytes);

    if (error == 0)
        error = unet_lane_take_buffers(peer, desc->length, piece, &count);
    if (error)
        return error;
    copy((struct cursor){.segment = peer->segment, .piece = piece},
         (struct cursor){.segment = le->own.segment, .piece = desc->piece}, desc->length);
    slot->pieces = count;
    memcpy(slot->piece, piece, sizeof piece);
    return 0;
}

static int place_direct(struct lane_endpoint *le, const struct lane_area *peer,
                        const struct unet_desc *desc, struct unet_desc *slot)
{
    struct unet_piece target = {.offset = (uint32_t)desc->remote, .length = desc->length};
    int error = unet_check_pieces(desc, le->own.segment_bytes);

    if (error)
        return error;
    if (desc->remote > peer->segment_bytes || desc->length > peer->segment_bytes - desc->remote)
        return -EFAULT;
    copy((struct cursor){.segment = peer->segment, .piece = &target},
         (struct cursor){.segment = le->own.segment, .piece = desc->piece}, desc->length);
    slot->pieces = 1;
    slot->piece[0] = target;
    slot->remote = desc->remote;
    return 0;
}

static int place_inline(const struct unet_desc *desc, struct unet_desc *slot)
{
    if (desc->length > UNET_INLINE_MAX)
        return -EMSGSIZE;
    slot->pieces = 0;
    memcpy(slot->data, desc->data, desc->length);
    return 0;
}

static int place(struct lane_endpoint *le, const struct lane_area *peer,
                 const struct unet_desc *desc, struct unet_desc *slot)
{
    switch (desc->kind) {
    case UNET_INLINE:
        return place_inline(desc, slot);
    case UNET_PIECES:
        return place_pieces(le, peer, desc, slot);
    case UNET_DIRECT:
        return place_direct(le, peer, desc, slot);
    default:
        return -EINVAL;
    }
}

static bool is_channel(const struct lane_endpoint *le, uint16_t channel)
{
    return channel >= 1 && channel <= le->ep.config.channels;
}

/* -EAGAIN: no room at the peer now; any other error refuses the descriptor. */
static int deliver(struct lane_endpoint *le, const struct unet_desc *desc)
{
    struct lane_link *link;
    struct unet_desc *slot;
    int error = unet_not_open(&le->ep, desc->channel);

    if (error)
        return error;
    link = &le->link[desc->channel];
    slot = unet_ring_reserve(&link->out);
    if (!slot)
        return -EAGAIN;
    error = place(le, &link->peer.area, desc, slot);
    if (error)
        return error;
    slot->channel = link->out_lane;
    slot->kind = desc->kind;
    slot->length = desc->length;
    slot->user = desc->user;
    unet_ring_submit(&link->out);
    return 0;
}

/* ---- the queue ------------------------------------------------------------------ */

void unet_lane_aim(struct lane_endpoint *le, uint16_t channel)
{
    static const uint32_t always = 1;
    struct unet_channel *ch = &le->ep.channel[channel];
    struct lane_link *link = &le->link[channel];

    if (ch->state != UNET_OPEN) {
        ch->ring = &le->full;
        ch->bell = NULL;
    } else if (link->queued > 0) {
        ch->ring = &le->ep.tx;
        ch->bell = &always;
        ch->number_in_ring = channel;
    } else {
        ch->ring = &link->out;
        ch->bell = link->peer.bell >= 0 ? &link->peer.area.header->armed : NULL;
        ch->fence = !(le->ep.fences_for_others && link->peer.area.fences);
        ch->number_in_ring = link->out_lane;
    }
}

/* Count what was submitted since the last time, so that nothing overtakes it. */
static void take_in(struct lane_endpoint *le)
{
    for (; le->tx_seen != le->ep.tx.position; le->tx_seen++) {
        uint16_t channel = le->ep.tx.shared->slot[le->tx_seen & le->ep.tx.mask].channel;

        if (is_channel(le, channel) && le->link[channel].queued++ == 0)
            unet_lane_aim(le, channel);
    }
}

static void done_with(struct lane_endpoint *le, uint16_t channel)
{
    unet_ring_release(&le->tx);
    if (is_channel(le, channel) && --le->link[channel].queued == 0)
        unet_lane_aim(le, channel);
}

int unet_lane_service(struct lane_endpoint *le)
{
    const struct unet_desc *desc;
    int done = 0;

    take_in(le);
    while ((desc = unet_ring_peek(&le->tx))) {
        uint16_t channel = desc->channel;
        int error = deliver(le, desc);

        if (error == -EAGAIN)
            break;
        if (error)
            unet_refuse(&le->ep, &le->errors, desc, error);
        else
            unet_lane_notify(le, channel);
        done_with(le, channel);
        done++;
    }
    unet_ring_publish(&le->tx);
    return done;
}

/* ---- bells ------------------------------------------------------------------------ */

static bool almost_full(const struct lane_link *link)
{
    const struct unet_ring *out = &link->out;
    uint32_t consumed = __atomic_load_n(&out->shared->consumed, __ATOMIC_RELAXED);

    return out->position - consumed >= unet_ring_brim(out->mask);
}

/* What the peer has armed, or 0. */
static uint32_t armed(const struct lane_link *link)
{
    if (link->peer.bell < 0)
        return 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* E, matches F */
    return __atomic_load_n(&link->peer.area.header->armed, __ATOMIC_RELAXED);
}

static void ring(struct lane_endpoint *le, const struct lane_link *link, uint32_t seen)
{
    le->ep.stats.wakeups++;
    unet_bell_ring(link->peer.bell, &link->peer.area.header->armed, seen);
}

void unet_lane_notify(struct lane_endpoint *le, uint16_t channel)
{
    const struct lane_link *link = &le->link[channel];
    uint32_t seen = armed(link);

    if ((seen & UNET_NONEMPTY) || (seen != 0 && almost_full(link)))
        ring(le, link, seen);
}

void unet_lane_wake(struct lane_endpoint *le, uint16_t channel)
{
    const struct lane_link *link = &le->link[channel];
    uint32_t seen = armed(link);

    if (seen != 0)
        ring(le, link, seen);
}
