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
static uint32_t cursor_run(struct cursor *c)
{
    while (c->done == c->piece->length) {
        c->piece++;
        c->done = 0;
    }
    return c->piece->length - c->done;
}

/* Copy `length` bytes, of which both sides have as many. */
static void cursor_copy(struct cursor to, struct cursor from, uint32_t length)
{
    while (length > 0) {
        uint32_t there = cursor_run(&to);
        uint32_t here = cursor_run(&from);
        uint32_t n = here < there ? here : there;

        memcpy(to.segment + to.piece->offset + to.done,
               from.segment + from.piece->offset + from.done, n);
        to.done += n;
        from.done += n;
        length -= n;
    }
}

/* ---- one descriptor ----------------------------------------------------------- */

static int sm_place_pieces(struct sm_endpoint *se, const struct sm_area *peer,
                           const struct unet_desc *desc, struct unet_desc *slot)
{
    struct unet_piece piece[UNET_PIECES_MAX] = {0};
    uint8_t count = 0;
    int error = unet_check_pieces(desc, se->own.segment_bytes);

    if (error == 0)
        error = unet_sm_take_buffers(peer, desc->length, piece, &count);
    if (error)
        return error;
    cursor_copy((struct cursor){.segment = peer->segment, .piece = piece},
                (struct cursor){.segment = se->own.segment, .piece = desc->piece}, desc->length);
    slot->pieces = count;
    memcpy(slot->piece, piece, sizeof piece);
    return 0;
}

static int sm_place_direct(struct sm_endpoint *se, const struct sm_area *peer,
                           const struct unet_desc *desc, struct unet_desc *slot)
{
    struct unet_piece target = {.offset = (uint32_t)desc->remote, .length = desc->length};
    int error = unet_check_pieces(desc, se->own.segment_bytes);

    if (error)
        return error;
    if (desc->remote > peer->segment_bytes || desc->length > peer->segment_bytes - desc->remote)
        return -EFAULT;
    cursor_copy((struct cursor){.segment = peer->segment, .piece = &target},
                (struct cursor){.segment = se->own.segment, .piece = desc->piece}, desc->length);
    slot->pieces = 1;
    slot->piece[0] = target;
    slot->remote = desc->remote;
    return 0;
}

static int sm_place_inline(const struct unet_desc *desc, struct unet_desc *slot)
{
    if (desc->length > UNET_INLINE_MAX)
        return -EMSGSIZE;
    slot->pieces = 0;
    memcpy(slot->data, desc->data, desc->length);
    return 0;
}

static int sm_place(struct sm_endpoint *se, const struct sm_area *peer,
                    const struct unet_desc *desc, struct unet_desc *slot)
{
    switch (desc->kind) {
    case UNET_INLINE:
        return sm_place_inline(desc, slot);
    case UNET_PIECES:
        return sm_place_pieces(se, peer, desc, slot);
    case UNET_DIRECT:
        return sm_place_direct(se, peer, desc, slot);
    default:
        return -EINVAL;
    }
}

/* -EAGAIN: no room at the peer now; any other error refuses the descriptor. */
static int sm_deliver(struct sm_endpoint *se, const struct unet_desc *desc)
{
    struct sm_link *link;
    struct unet_desc *slot;
    int error = unet_not_open(&se->ni.ep, desc->channel);

    if (error)
        return error;
    link = &se->link[desc->channel];
    slot = unet_ring_reserve(&link->out);
    if (!slot)
        return -EAGAIN;
    error = sm_place(se, &link->peer.area, desc, slot);
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

void unet_sm_aim(struct sm_endpoint *se, uint16_t channel)
{
    static const uint32_t always = 1;
    struct unet_channel *ch = &se->ni.ep.channel[channel];
    struct sm_link *link = &se->link[channel];

    if (ch->state != UNET_OPEN) {
        ch->ring = &unet_ring_full;
        ch->bell = NULL;
    } else if (link->queued > 0) {
        ch->ring = &se->ni.ep.tx;
        ch->bell = &always;
        ch->number_in_ring = channel;
    } else {
        ch->ring = &link->out;
        ch->bell = link->peer.bell >= 0 ? &link->peer.area.header->armed : NULL;
        ch->fence = !(se->ni.ep.fences_for_others && link->peer.area.fences);
        ch->number_in_ring = link->out_lane;
    }
}

/* Count what was submitted since the last time, so that nothing overtakes it. */
static void sm_count_queued(struct sm_endpoint *se)
{
    for (; se->tx_seen != se->ni.ep.tx.position; se->tx_seen++) {
        uint16_t channel = se->ni.ep.tx.shared->slot[se->tx_seen & se->ni.ep.tx.mask].channel;

        if (unet_is_channel(&se->ni.ep, channel) && se->link[channel].queued++ == 0)
            unet_sm_aim(se, channel);
    }
}

static void sm_descriptor_done(struct sm_endpoint *se, uint16_t channel)
{
    unet_ring_release(&se->ni.tx);
    if (unet_is_channel(&se->ni.ep, channel) && --se->link[channel].queued == 0)
        unet_sm_aim(se, channel);
}

int unet_sm_service(struct sm_endpoint *se)
{
    const struct unet_desc *desc;
    int done = 0;

    sm_count_queued(se);
    while ((desc = unet_ring_peek(&se->ni.tx))) {
        uint16_t channel = desc->channel;
        int error = sm_deliver(se, desc);

        if (error == -EAGAIN)
            break;
        if (error)
            unet_refuse(&se->ni.ep, &se->ni.errors, desc, error);
        else
            unet_sm_notify(se, channel);
        sm_descriptor_done(se, channel);
        done++;
    }
    unet_ring_publish(&se->ni.tx);
    return done;
}

/* ---- bells ------------------------------------------------------------------------ */

static bool sm_lane_almost_full(const struct sm_link *link)
{
    const struct unet_ring *out = &link->out;
    uint32_t consumed = __atomic_load_n(&out->shared->consumed, __ATOMIC_RELAXED);

    return out->position - consumed >= unet_ring_brim(out->mask);
}

/* What the peer has armed, or 0. */
static uint32_t sm_peer_armed(const struct sm_link *link)
{
    if (link->peer.bell < 0)
        return 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); /* E, matches F */
    return __atomic_load_n(&link->peer.area.header->armed, __ATOMIC_RELAXED);
}

static void sm_peer_ring(struct sm_endpoint *se, const struct sm_link *link, uint32_t seen)
{
    se->ni.ep.stats.wakeups++;
    unet_bell_ring(link->peer.bell, &link->peer.area.header->armed, seen);
}

void unet_sm_notify(struct sm_endpoint *se, uint16_t channel)
{
    const struct sm_link *link = &se->link[channel];
    uint32_t seen = sm_peer_armed(link);

    if ((seen & UNET_NONEMPTY) || (seen != 0 && sm_lane_almost_full(link)))
        sm_peer_ring(se, link, seen);
}

void unet_sm_wake(struct sm_endpoint *se, uint16_t channel)
{
    const struct sm_link *link = &se->link[channel];
    uint32_t seen = sm_peer_armed(link);

    if (seen != 0)
        sm_peer_ring(se, link, seen);
}
