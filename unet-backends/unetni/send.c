/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - send queues into frames.
 *
 * A descriptor is copied out of the client's memory and then checked.  The frame's payload is
 * gathered from the segment by the kernel, so `consumed` of the send queue is published when no
 * frame of the endpoint waits in the batch any more.
 */
#include "unetni/unetni.h"

#include "core/core.h"

#include <errno.h>
#include <net/ethernet.h>
#include <string.h>

enum {
    REFUSED_BYTES = ETH_ZLEN, /* what a descriptor that is refused costs its sender's turn */
    NO_ROOM_MOST = 1000,      /* then a frame that the device never takes is lost */
};

/* ---- the queue --------------------------------------------------------------------------- */

/* As unet_ring_peek, which also publishes. */
static const struct unet_desc *peek(const struct unet_ring *ring)
{
    const struct unet_desc *slot = &ring->shared->slot[ring->position & ring->mask];

    return __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == ring->position + 1 /* C, matches B */
               ? slot
               : NULL;
}

bool unetni_send_waits(const struct unetni_endpoint *ep)
{
    return peek(&ep->tx) != NULL;
}

void unetni_send_publish(struct unetni_endpoint *ep)
{
    if (ep->in_batch == 0)
        unet_ring_publish(&ep->tx);
}

/* One fetch of each word, whatever the compiler thinks of plain copies. */
static void copy_desc(struct unet_desc *copy, const struct unet_desc *slot)
{
    const uint64_t *from = (const uint64_t *)slot;
    uint64_t *to = (uint64_t *)copy;

    for (unsigned i = 0; i < sizeof *copy / sizeof *to; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

/* ---- checking -------------------------------------------------------------------------------- */

static int check_channel(const struct unetni_endpoint *ep, uint16_t n)
{
    if (!unetni_is_channel(ep, n))
        return -ENOTCONN;
    switch (ep->channel[n].state) {
    case UNET_OPEN:
        return 0;
    case UNET_DEAD:
        return -EPIPE;
    default:
        return -ENOTCONN;
    }
}

static int check(const struct unetni_service *s, const struct unetni_endpoint *ep,
                 const struct unet_desc *desc)
{
    int error = check_channel(ep, desc->channel);

    if (error)
        return error;
    if (desc->kind == UNET_INLINE)
        return desc->length <= UNET_INLINE_MAX ? 0 : -EMSGSIZE;
    if (desc->kind != UNET_PIECES)
        return -EINVAL;
    error = unet_check_pieces(desc, ep->layout.segment_bytes);
    if (error)
        return error;
    return desc->length <= s->wire.message_most ? 0 : -EMSGSIZE;
}

static void refuse(struct unetni_endpoint *ep, const struct unet_desc *desc, int error)
{
    struct unet_desc *slot = unet_ring_reserve(&ep->errors);

    unetni_count(ep, UNET_FE_BAD_DESCRIPTORS, 1);
    unetni_schedule_charge(ep, REFUSED_BYTES);
    if (!slot) {
        unetni_count(ep, UNET_FE_ERRORS_LOST, 1);
        return;
    }
    slot->channel = desc->channel;
    slot->kind = UNET_ERROR;
    slot->pieces = 0;
    slot->length = desc->length;
    slot->user = desc->user;
    slot->error = (uint32_t)-error;
    unet_ring_submit(&ep->errors);
    unetni_notify(ep, &ep->errors);
}

/* ---- the batch ------------------------------------------------------------------------------ */

static uint32_t wire_bytes(uint32_t length)
{
    const uint32_t bytes =
        (uint32_t)(sizeof(struct ether_header) + sizeof(struct unet_frame)) + length;

    return bytes > ETH_ZLEN ? bytes : ETH_ZLEN;
}

/* The message of a descriptor that was checked; returns how many parts it has. */
static unsigned gather(const struct unetni_endpoint *ep, struct unet_desc *desc, struct iovec *iov)
{
    if (desc->kind == UNET_INLINE) {
        iov[0] = (struct iovec){desc->data, desc->length};
        return 1;
    }
    for (unsigned i = 0; i < desc->pieces; i++)
        iov[i] = (struct iovec){unetni_segment(ep, desc->piece[i].offset), desc->piece[i].length};
    return desc->pieces;
}

/* Make the i-th what sendmmsg takes, of all else that is known of it. */
static void compose(struct unetni_batch *b, unsigned i)
{
    struct iovec *iov = b->iov[i];

    iov[0] = (struct iovec){&b->header[i], sizeof b->header[i]};
    b->message[i].msg_hdr = (struct msghdr){
        .msg_name = &b->to[i],
        .msg_namelen = b->to_length,
        .msg_iov = iov,
        .msg_iovlen = 1 + gather(b->ep[i], &b->desc[i], iov + 1),
    };
}

static struct unet_frame header_of(const struct unetni_endpoint *ep, const struct unet_desc *desc)
{
    const struct unetni_channel *ch = &ep->channel[desc->channel];

    return (struct unet_frame){
        .version = UNET_FRAME_VERSION,
        .kind = desc->kind == UNET_INLINE ? UNET_FRAME_INLINE : UNET_FRAME_PIECES,
        .length = (uint16_t)desc->length,
        .to_port = ch->port,
        .from_port = ep->layout.port,
        .key = ch->key_out,
        .life = ch->peer_life,
        .user = desc->user,
    };
}

static void put_in_batch(struct unetni_service *s, struct unetni_endpoint *ep)
{
    struct unetni_batch *b = &s->batch;
    const unsigned i = b->count++;

    b->ep[i] = ep;
    b->header[i] = header_of(ep, &b->desc[i]);
    b->to_length = s->wire.ops->address(&s->wire, ep->channel[b->desc[i].channel].mac, &b->to[i]);
    compose(b, i);
    ep->in_batch++;
}

static void done(struct unetni_batch *b, unsigned i, bool sent)
{
    struct unetni_endpoint *ep = b->ep[i];

    if (sent) {
        unetni_count(ep, UNET_FE_SENT, 1);
        unetni_count(ep, UNET_FE_SENT_BYTES, b->desc[i].length);
    } else {
        unetni_count(ep, UNET_FE_LOST, 1);
    }
    ep->in_batch--;
    unetni_send_publish(ep);
}

/* Returns how many of the batch need no further attention; 0: the wire takes none now.  A frame
 * that cannot go (the interface is down, or its MTU was lowered) is lost. */
static unsigned submit(struct unetni_service *s)
{
    struct unetni_batch *b = &s->batch;
    const int n = s->wire.ops->send(&s->wire, b->message + b->first, b->count - b->first);

    if (n > 0) {
        for (int i = 0; i < n; i++)
            done(b, b->first + (unsigned)i, true);
        b->no_room = 0;
        return (unsigned)n;
    }
    if (errno == EAGAIN || errno == EINTR || (errno == ENOBUFS && ++b->no_room < NO_ROOM_MOST))
        return 0;
    b->no_room = 0;
    done(b, b->first, false);
    return 1;
}

bool unetni_send_flush(struct unetni_service *s)
{
    struct unetni_batch *b = &s->batch;

    while (b->first < b->count) {
        const unsigned n = submit(s);

        if (n == 0)
            return false;
        b->first += n;
    }
    b->first = b->count = 0;
    return true;
}

void unetni_send_purge(struct unetni_service *s, struct unetni_endpoint *ep)
{
    struct unetni_batch *b = &s->batch;
    unsigned kept = 0;

    if (ep->in_batch == 0 || unetni_send_flush(s))
        return;
    for (unsigned i = b->first; i < b->count; i++) {
        if (b->ep[i] == ep)
            continue;
        b->ep[kept] = b->ep[i];
        b->header[kept] = b->header[i];
        b->desc[kept] = b->desc[i];
        b->to[kept] = b->to[i];
        compose(b, kept++);
    }
    b->first = 0;
    b->count = kept;
    ep->in_batch = 0;
}

/* ---- descriptors -------------------------------------------------------------------------- */

static bool is_ours(const struct unetni_service *s, const uint8_t mac[6], uint16_t port)
{
    return s->port[port] && memcmp(mac, s->wire.own, sizeof s->wire.own) == 0;
}

/* To an endpoint of ours, without the wire. */
static void hand_over(struct unetni_service *s, struct unetni_endpoint *ep, struct unet_desc *desc)
{
    struct unetni_frame frame = {.header = header_of(ep, desc)};
    struct iovec iov[UNET_PIECES_MAX];

    memcpy(frame.mac, s->wire.own, sizeof frame.mac);
    gather(ep, desc, iov);
    unetni_count(ep, UNET_FE_SENT, 1);
    unetni_count(ep, UNET_FE_SENT_BYTES, desc->length);
    unetni_receive_frame(s, &frame, iov);
}

bool unetni_send_one(struct unetni_service *s, struct unetni_endpoint *ep)
{
    const struct unet_desc *slot = peek(&ep->tx);
    struct unet_desc *desc = &s->batch.desc[s->batch.count];
    const struct unetni_channel *ch;
    int error;

    if (!slot)
        return false;
    copy_desc(desc, slot);
    ep->tx.position++;
    if (ep->drain_most > 0)
        ep->drain_most--;
    error = check(s, ep, desc);
    if (error) {
        refuse(ep, desc, error);
        return true;
    }
    unetni_schedule_charge(ep, wire_bytes(desc->length));
    ch = &ep->channel[desc->channel];
    if (is_ours(s, ch->mac, ch->port))
        hand_over(s, ep, desc);
    else
        put_in_batch(s, ep);
    return true;
}

void unetni_send_control(struct unetni_service *s, const struct unetni_frame *frame)
{
    union unetni_place to;
    struct iovec bytes = {(void *)&frame->header, sizeof frame->header};
    struct mmsghdr message = {.msg_hdr = {.msg_name = &to, .msg_iov = &bytes, .msg_iovlen = 1}};

    if (is_ours(s, frame->mac, frame->header.to_port)) {
        struct unetni_frame back = *frame; /* it comes from us */

        unetni_receive_frame(s, &back, NULL);
        return;
    }
    message.msg_hdr.msg_namelen = s->wire.ops->address(&s->wire, frame->mac, &to);
    s->wire.ops->send(&s->wire, &message, 1);
}
