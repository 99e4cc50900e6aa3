/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - frames into receive rings.
 *
 * The endpoint is that of the port, and the channel that of the sender and the key; a frame that
 * finds none of them is counted and dropped.
 */
#include "unetni/unetni.h"

#include "core/core.h"

#include <string.h>

enum {
    BAD_MOST = 64,    /* entries of a free queue that one frame may look at: others wait */
    GONES_MOST = 1000 /* answers that a channel is gone, in a second */
};

/* ---- buffers ------------------------------------------------------------------------------ */

/* The entry `ahead` of the free queue's head, or 0. */
static uint64_t entry(const struct unetni_endpoint *ep, uint32_t ahead)
{
    const uint32_t position = ep->free.position + ahead;
    const struct unet_desc *slot = &ep->free.shared->slot[position & ep->free.mask];

    if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != position + 1) /* C, matches B */
        return 0;
    return __atomic_load_n(&slot->word[0], __ATOMIC_RELAXED);
}

static bool is_filled(const struct unetni_endpoint *ep)
{
    const struct unet_desc *slot = &ep->free.shared->slot[ep->free.position & ep->free.mask];

    return __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) == ep->free.position + 1;
}

/* The next good buffer, `ahead` of the free queue's head.  Bad ones at the head go; bad ones
 * behind good ones wait until they are there. */
static bool next_buffer(struct unetni_endpoint *ep, uint32_t ahead, struct unet_piece *piece)
{
    for (unsigned tries = 0; tries < BAD_MOST; tries++) {
        const uint64_t word = entry(ep, ahead);

        piece->offset = (uint32_t)word;
        piece->length = (uint32_t)(word >> 32);
        if (piece->length > 0 && unetni_in_segment(ep, piece->offset, piece->length))
            return true;
        if (ahead > 0 || !is_filled(ep))
            return false;
        unetni_count(ep, UNET_FE_BAD_BUFFERS, 1);
        ep->free.position++;
    }
    return false;
}

/* Buffers for `length` bytes, all or none.  Returns how many, or 0. */
static unsigned take_buffers(struct unetni_endpoint *ep, uint32_t length, struct unet_piece *piece)
{
    unsigned count;

    for (count = 0; count < UNET_PIECES_MAX && length > 0; count++) {
        if (!next_buffer(ep, count, &piece[count]))
            break;
        if (piece[count].length > length)
            piece[count].length = length;
        length -= piece[count].length;
    }
    if (length > 0)
        count = 0;
    ep->free.position += count;
    unet_ring_publish(&ep->free);
    return count;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A message on its way into a receive ring: what of it is not copied yet. */
struct source {
    const struct iovec *iov;
    size_t at; /* in the first of them */
};

static void copy_out(struct source *from, uint8_t *to, size_t left)
{
    while (left > 0) {
        const size_t here = from->iov->iov_len - from->at;
        const size_t n = here < left ? here : left;

        memcpy(to, (const uint8_t *)from->iov->iov_base + from->at, n);
        to += n;
        left -= n;
        from->at += n;
        if (from->at == from->iov->iov_len) {
            from->iov++;
            from->at = 0;
        }
    }
}

/* 0 buffers: there are not enough. */
static unsigned fill_pieces(struct unetni_endpoint *ep, struct unet_desc *slot,
                            struct source *source, uint32_t length)
{
    struct unet_piece piece[UNET_PIECES_MAX];
    const unsigned count = take_buffers(ep, length, piece);

    for (unsigned i = 0; i < count; i++) {
        copy_out(source, unetni_segment(ep, piece[i].offset), piece[i].length);
        slot->piece[i] = piece[i];
    }
    slot->kind = UNET_PIECES;
    slot->pieces = (uint8_t)count;
    return count;
}

static void deliver(struct unetni_service *s, struct unetni_endpoint *ep, struct unetni_channel *ch,
                    const struct unet_frame *header, const struct iovec *message)
{
    struct unet_desc *slot = unet_ring_reserve(&ch->in);
    struct source source = {.iov = message};

    if (!slot || (header->kind == UNET_FRAME_PIECES &&
                  fill_pieces(ep, slot, &source, header->length) == 0)) {
        unetni_count(ep, UNET_FE_OVERRUNS, 1);
        return;
    }
    if (header->kind == UNET_FRAME_INLINE) {
        slot->kind = UNET_INLINE;
        slot->pieces = 0;
        copy_out(&source, slot->data, header->length);
    }
    slot->channel = (uint16_t)(ch - ep->channel);
    slot->length = header->length;
    slot->user = header->user;
    unet_ring_submit(&ch->in);
    unetni_count(ep, UNET_FE_RECEIVED, 1);
    unetni_count(ep, UNET_FE_RECEIVED_BYTES, header->length);
    unetni_notify(ep, &ch->in);
    unetni_schedule_wake(s, ep); /* it may answer */
}

/* ---- frames ------------------------------------------------------------------------------- */

static bool is_message(const struct unet_frame *header)
{
    return header->kind == UNET_FRAME_INLINE || header->kind == UNET_FRAME_PIECES;
}

static bool length_ok(const struct unet_frame *header)
{
    switch (header->kind) {
    case UNET_FRAME_INLINE:
        return header->length <= UNET_INLINE_MAX;
    case UNET_FRAME_PIECES:
        return header->length > 0;
    case UNET_FRAME_OPEN:
    case UNET_FRAME_OPENED:
    case UNET_FRAME_CLOSE:
    case UNET_FRAME_ALIVE:
    case UNET_FRAME_GONE:
        return header->length == 0;
    default: /* and direct access, which is the module's alone */
        return false;
    }
}

static bool may_say_gone(struct unetni_service *s)
{
    if (s->now_ns - s->gone_ns >= 1000000000u) {
        s->gone_ns = s->now_ns;
        s->gones = 0;
    }
    return s->gones++ < GONES_MOST;
}

void unetni_receive_gone(struct unetni_service *s, const struct unetni_frame *question)
{
    struct unetni_frame answer = {.header = {.version = UNET_FRAME_VERSION,
                                             .kind = UNET_FRAME_GONE,
                                             .to_port = question->header.from_port,
                                             .from_port = question->header.to_port,
                                             .key = question->header.key,
                                             .life = question->header.user,
                                             .user = question->header.life}};

    if (!may_say_gone(s))
        return;
    memcpy(answer.mac, question->mac, sizeof answer.mac);
    unetni_send_control(s, &answer);
}

/* Others on this machine may have the port: their business. */
static void no_endpoint(struct unetni_service *s, const struct unetni_frame *frame)
{
    s->strange++;
    if (frame->header.kind == UNET_FRAME_ALIVE &&
        s->wire.ops->nobody_has(&s->wire, frame->header.to_port))
        unetni_receive_gone(s, frame);
}

void unetni_receive_frame(struct unetni_service *s, const struct unetni_frame *frame,
                          const struct iovec *message)
{
    struct unetni_endpoint *ep = s->port[frame->header.to_port];
    struct unetni_channel *ch;

    if (!ep) {
        no_endpoint(s, frame);
        return;
    }
    ch = unetni_channel_find(ep, frame);
    if (!is_message(&frame->header))
        unetni_channel_control(s, ep, ch, frame);
    else if (unetni_channel_lives(ch) && frame->header.life == ch->life)
        deliver(s, ep, ch, &frame->header, message);
    else
        unetni_count(ep, UNET_FE_FOREIGN, 1);
}

static void malformed(struct unetni_service *s, struct unetni_endpoint *ep)
{
    if (ep)
        unetni_count(ep, UNET_FE_MALFORMED, 1);
    else
        s->malformed++;
}

void unetni_receive(struct unetni_service *s, const uint8_t *bytes, size_t length,
                    const uint8_t mac[6])
{
    const struct iovec message = {(void *)(uintptr_t)(bytes + sizeof(struct unet_frame)), length};
    struct unetni_frame frame;

    if (length < sizeof frame.header) {
        malformed(s, NULL);
        return;
    }
    memcpy(&frame.header, bytes, sizeof frame.header);
    memcpy(frame.mac, mac, sizeof frame.mac);
    if (frame.header.version != UNET_FRAME_VERSION ||
        frame.header.length > length - sizeof frame.header || !length_ok(&frame.header))
        malformed(s, s->port[frame.header.to_port]);
    else
        unetni_receive_frame(s, &frame, &message);
}
