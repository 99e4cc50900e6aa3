/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - the sending calls of all backends.
 */
#include "core/core.h"

#include <errno.h>
#include <string.h>

int unet_may_send(const struct unet_endpoint *ep, uint16_t channel)
{
    static const int error[] = {
        [UNET_CLOSED] = -ENOTCONN,
        [UNET_CONNECTING] = -EAGAIN,
        [UNET_OPEN] = 0,
        [UNET_DEAD] = -EPIPE,
    };

    return unet_is_channel(ep, channel) ? error[ep->channel[channel].state] : -ENOTCONN;
}

int unet_not_open(const struct unet_endpoint *ep, uint16_t channel)
{
    const int error = unet_may_send(ep, channel);

    return error == -EAGAIN ? -ENOTCONN : error;
}

int unet_send_inline(struct unet_endpoint *ep, uint16_t channel, uint32_t user, const void *data,
                     uint32_t length)
{
    struct unet_desc *desc;
    int error = unet_may_send(ep, channel);

    if (error)
        return error;
    if (length > UNET_INLINE_MAX)
        return -EMSGSIZE;
    desc = unet_inline_begin(ep, channel);
    if (!desc) {
        ep->stats.send_full++;
        return -EAGAIN;
    }
    if (length > 0)
        memcpy(desc->data, data, length);
    unet_inline_end(ep, channel, length, user);
    return 0;
}

int unet_enqueue(struct unet_endpoint *ep, const struct unet_desc *desc, uint32_t *ticket)
{
    struct unet_desc *slot = unet_ring_reserve(&ep->tx);

    if (!slot) {
        ep->stats.send_full++;
        return -EAGAIN;
    }
    /* All but the turn, which is the ring's. */
    memcpy(&slot->channel, &desc->channel, sizeof *desc - offsetof(struct unet_desc, channel));
    ep->stats.sent++;
    ep->stats.sent_bytes += desc->length;
    unet_ring_submit(&ep->tx);
    if (ticket)
        *ticket = ep->tx.position;
    return 0;
}

int unet_push(struct unet_endpoint *ep, const struct unet_desc *desc, uint32_t *ticket)
{
    const int error = unet_enqueue(ep, desc, ticket);

    if (error == 0)
        ep->ops->kick(ep, desc->channel);
    return error;
}

static int desc_add_pieces(const struct unet_endpoint *ep, struct unet_desc *desc,
                           const struct unet_piece *piece, uint32_t count)
{
    const int error = unet_may_send(ep, desc->channel);

    if (error)
        return error;
    if (count < 1 || count > UNET_PIECES_MAX)
        return -EINVAL;
    desc->pieces = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        desc->piece[i] = piece[i];
        /* Saturate: a sum that wrapped around could look like a good one. */
        if (__builtin_add_overflow(desc->length, piece[i].length, &desc->length))
            desc->length = UINT32_MAX;
    }
    return 0;
}

int unet_send(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
              const struct unet_piece *piece, uint32_t count, uint32_t *ticket)
{
    struct unet_desc desc = {.channel = channel, .kind = UNET_PIECES, .user = user};
    const int error = desc_add_pieces(ep, &desc, piece, count);

    return error ? error : unet_push(ep, &desc, ticket);
}

int unet_send_more(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                   const struct unet_piece *piece, uint32_t count, uint32_t *ticket)
{
    struct unet_desc desc = {.channel = channel, .kind = UNET_PIECES, .user = user};
    const int error = desc_add_pieces(ep, &desc, piece, count);

    return error ? error : unet_enqueue(ep, &desc, ticket);
}

int unet_send_direct(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                     const struct unet_piece *piece, uint32_t count, uint64_t remote,
                     uint32_t *ticket)
{
    struct unet_desc desc = {
        .channel = channel, .kind = UNET_DIRECT, .user = user, .remote = remote};
    int error;

    if (!(ep->capabilities & UNET_CAP_DIRECT))
        return -EOPNOTSUPP;
    error = desc_add_pieces(ep, &desc, piece, count);
    return error ? error : unet_push(ep, &desc, ticket);
}

bool unet_sent(const struct unet_endpoint *ep, uint32_t ticket)
{
    uint32_t done = __atomic_load_n(&ep->tx.shared->consumed, __ATOMIC_ACQUIRE);

    return (int32_t)(done - ticket) >= 0;
}

/* ---- endpoints with packets ------------------------------------------------ */

static size_t iovec_bytes(const struct iovec *iov, uint32_t count)
{
    size_t sum = 0;

    /* Saturate: a sum that wrapped around could look like a good one. */
    for (uint32_t i = 0; i < count; i++) {
        if (__builtin_add_overflow(sum, iov[i].iov_len, &sum))
            return SIZE_MAX;
    }
    return sum;
}

int unet_sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user, const struct iovec *iov,
               uint32_t count)
{
    const struct unet_packet_ops *packets = ep->ops->packets;
    int error = packets ? unet_may_send(ep, channel) : -EOPNOTSUPP;
    size_t bytes;

    if (error)
        return error;
    if (count < 1 || count > UNET_PIECES_MAX)
        return -EINVAL;
    bytes = iovec_bytes(iov, count);
    if (bytes > UNET_MESSAGE_MAX)
        return -EMSGSIZE;
    error = packets->sendv(ep, channel, user, iov, count);
    if (error)
        return error;
    ep->stats.sent++;
    ep->stats.sent_bytes += bytes;
    return 0;
}

int unet_set_placement(struct unet_endpoint *ep, unet_placement_fn *fn, void *arg)
{
    if (!ep->ops->packets)
        return -EOPNOTSUPP;
    ep->ops->packets->set_placement(ep, fn, arg);
    return 0;
}

bool unet_idle(struct unet_endpoint *ep)
{
    return ep->ops->packets ? ep->ops->packets->idle(ep) : unet_sent(ep, ep->tx.position);
}

uint32_t unet_push_packets(struct unet_endpoint *ep, uint16_t channel)
{
    return ep->ops->packets ? ep->ops->packets->push(ep, channel) : 0;
}
