/* SPDX-License-Identifier: BSD-3-Clause
 *
 * datagram.c - messages into datagrams and back.
 */
#include "udp/udp.h"

#include <errno.h>
#include <string.h>

enum { RECEIVE_MOST = 16 }; /* batches that one call takes in */

/* ---- sending -------------------------------------------------------------------------- */

/* Datagrams ready for sendmmsg. */
struct batch {
    struct mmsghdr message[UDP_BATCH];
    struct iovec iov[UDP_BATCH][1 + UNET_PIECES_MAX];
    struct udp_header header[UDP_BATCH];
    unsigned count;
};

static int channel_error(const struct udp_endpoint *ue, uint16_t n)
{
    if (!udp_is_channel(ue, n))
        return -ENOTCONN;
    switch (ue->ep.channel[n].state) {
    case UNET_OPEN:
        return 0;
    case UNET_DEAD:
        return -EPIPE;
    default:
        return -ENOTCONN;
    }
}

static int descriptor_error(const struct udp_endpoint *ue, const struct unet_desc *desc)
{
    int error = channel_error(ue, desc->channel);

    if (error)
        return error;
    if (desc->kind == UNET_INLINE)
        return desc->length <= UNET_INLINE_MAX ? 0 : -EMSGSIZE;
    if (desc->kind != UNET_PIECES)
        return -EINVAL;
    error = unet_check_pieces(desc, ue->ep.config.segment_bytes);
    if (error)
        return error;
    return desc->length <= UDP_PAYLOAD_MAX - sizeof(struct udp_header) ? 0 : -EMSGSIZE;
}

static unsigned gather(const struct udp_endpoint *ue, const struct unet_desc *desc,
                       struct iovec *iov)
{
    if (desc->kind == UNET_INLINE) {
        *iov = (struct iovec){(void *)desc->data, desc->length};
        return 1;
    }
    for (unsigned i = 0; i < desc->pieces; i++)
        iov[i] = (struct iovec){ue->ep.segment + desc->piece[i].offset, desc->piece[i].length};
    return desc->pieces;
}

static void add(struct udp_endpoint *ue, struct batch *b, const struct unet_desc *desc)
{
    struct udp_link *link = &ue->link[desc->channel];
    const unsigned i = b->count++;

    b->header[i] = (struct udp_header){
        .magic = UDP_MAGIC,
        .version = UDP_VERSION,
        .kind = desc->kind == UNET_INLINE ? UDP_INLINE : UDP_BUFFER,
        .to = link->number,
        .from = desc->channel,
        .key = link->key_out,
        .user = desc->user,
        .length = desc->length,
        .to_life = link->peer_life,
        .from_life = link->life,
    };
    b->iov[i][0] = (struct iovec){&b->header[i], sizeof b->header[i]};
    b->message[i] = (struct mmsghdr){
        .msg_hdr = {.msg_name = &link->peer,
                    .msg_namelen = unet_udp_sockaddr_length(&link->peer),
                    .msg_iov = b->iov[i],
                    .msg_iovlen = 1 + gather(ue, desc, b->iov[i] + 1)},
    };
}

/* The descriptors from the head of the send queue on that are good, up to a bad one. */
static void collect(struct udp_endpoint *ue, struct batch *b)
{
    b->count = 0;
    while (b->count < UDP_BATCH) {
        const uint32_t position = ue->tx.position + b->count;
        const struct unet_desc *desc = &ue->tx.shared->slot[position & ue->tx.mask];

        if (desc->turn != position + 1 || descriptor_error(ue, desc) != 0)
            break;
        add(ue, b, desc);
    }
}

static void release(struct udp_endpoint *ue, unsigned count)
{
    while (count-- > 0)
        unet_ring_release(&ue->tx);
}

/* How many went; 0: the socket takes none now.  A datagram that cannot go (the way is gone, it is
 * longer than the way allows) is lost, and errors of earlier ones are read and passed over. */
static unsigned send_batch(struct udp_endpoint *ue, struct batch *b)
{
    for (int tries = 0; tries < 4; tries++) {
        const int n = sendmmsg(ue->socket, b->message, b->count, 0);

        if (n > 0)
            return (unsigned)n;
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
            return 0;
        if (errno == ECONNREFUSED)
            unet_udp_read_errors(ue);
        else if (errno != EINTR)
            return 1;
    }
    return 1;
}

int unet_udp_service(struct udp_endpoint *ue)
{
    struct batch b;
    int done = 0;

    for (;;) {
        const struct unet_desc *head = unet_ring_peek(&ue->tx);
        unsigned sent = 1;
        int error;

        if (!head)
            break;
        error = descriptor_error(ue, head);
        if (error) {
            unet_refuse(&ue->ep, &ue->errors, head, error);
        } else {
            collect(ue, &b);
            sent = send_batch(ue, &b);
        }
        if (sent == 0)
            break;
        release(ue, sent);
        done += (int)sent;
    }
    unet_ring_publish(&ue->tx);
    return done;
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* Buffers for `length` bytes from the free queue, all or none.  Returns how many, or 0. */
static unsigned take_buffers(struct udp_endpoint *ue, uint32_t length,
                             struct unet_piece piece[UNET_PIECES_MAX])
{
    uint32_t left = length;
    unsigned count = 0;

    while (left > 0 && count < UNET_PIECES_MAX) {
        const uint32_t position = ue->free.position + count;
        const struct unet_desc *slot = &ue->free.shared->slot[position & ue->free.mask];
        uint32_t room;

        if (slot->turn != position + 1)
            return 0;
        room = (uint32_t)(slot->word[0] >> 32);
        piece[count].offset = (uint32_t)slot->word[0];
        piece[count].length = left < room ? left : room;
        left -= piece[count++].length;
    }
    return left == 0 ? count : 0;
}

static bool fill_pieces(struct udp_endpoint *ue, struct unet_desc *slot, const uint8_t *bytes,
                        uint32_t length)
{
    struct unet_piece piece[UNET_PIECES_MAX];
    const unsigned count = take_buffers(ue, length, piece);

    if (count == 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        memcpy(ue->ep.segment + piece[i].offset, bytes, piece[i].length);
        bytes += piece[i].length;
        slot->piece[i] = piece[i];
        unet_ring_release(&ue->free);
    }
    unet_ring_publish(&ue->free);
    slot->pieces = (uint8_t)count;
    return true;
}

static void deliver(struct udp_endpoint *ue, const struct udp_header *header, const uint8_t *bytes)
{
    struct unet_ring *in = &ue->link[header->to].in;
    struct unet_desc *slot = unet_ring_reserve(in);
    bool room = slot != NULL;

    if (room && header->kind == UDP_INLINE) {
        slot->kind = UNET_INLINE;
        slot->pieces = 0;
        memcpy(slot->data, bytes, header->length);
    } else if (room) {
        slot->kind = UNET_PIECES;
        room = fill_pieces(ue, slot, bytes, header->length);
    }
    if (!room) {
        ue->ep.stats.overruns++;
        return;
    }
    slot->channel = header->to;
    slot->length = header->length;
    slot->user = header->user;
    unet_ring_submit(in);
}

static bool is_message(const struct udp_header *header)
{
    return (header->kind == UDP_INLINE && header->length <= UNET_INLINE_MAX) ||
           (header->kind == UDP_BUFFER && header->length > 0);
}

static bool is_ours(const struct udp_endpoint *ue, const struct udp_header *header,
                    const union udp_sockaddr *from)
{
    const uint16_t n = header->to;

    return udp_is_channel(ue, n) && ue->ep.channel[n].state != UNET_CLOSED &&
           ue->link[n].key_in == header->key && ue->link[n].life == header->to_life &&
           unet_udp_same(&ue->link[n].peer, from);
}

static void arrived(struct udp_endpoint *ue, const uint8_t *bytes, size_t length,
                    const union udp_sockaddr *from)
{
    struct udp_header header;

    if (length < sizeof header) {
        ue->ep.stats.malformed++;
        return;
    }
    memcpy(&header, bytes, sizeof header);
    if (header.magic != UDP_MAGIC || header.version != UDP_VERSION ||
        header.length != length - sizeof header)
        ue->ep.stats.malformed++;
    else if (header.kind >= UDP_OPEN && header.kind <= UDP_ALIVE)
        unet_udp_control(ue, &header, from);
    else if (!is_message(&header))
        ue->ep.stats.malformed++;
    else if (!is_ours(ue, &header, from))
        ue->ep.stats.foreign++;
    else
        deliver(ue, &header, bytes + sizeof header);
}

static int receive_batch(struct udp_endpoint *ue)
{
    union udp_sockaddr from[UDP_BATCH];
    struct iovec iov[UDP_BATCH];
    struct mmsghdr message[UDP_BATCH];
    int n;

    for (unsigned i = 0; i < UDP_BATCH; i++) {
        iov[i] = (struct iovec){ue->arrivals + (size_t)i * UNET_MESSAGE_MAX, UNET_MESSAGE_MAX};
        message[i] = (struct mmsghdr){.msg_hdr = {.msg_name = &from[i],
                                                  .msg_namelen = sizeof from[i],
                                                  .msg_iov = &iov[i],
                                                  .msg_iovlen = 1}};
    }
    n = recvmmsg(ue->socket, message, UDP_BATCH, 0, NULL);
    if (n < 0)
        return errno == ECONNREFUSED ? (unet_udp_read_errors(ue), 0) : 0;
    for (int i = 0; i < n; i++)
        arrived(ue, iov[i].iov_base, message[i].msg_len, &from[i]);
    return n;
}

int unet_udp_receive(struct udp_endpoint *ue)
{
    int count = 0, n;

    do {
        n = receive_batch(ue);
        count += n;
    } while (n == UDP_BATCH && count < RECEIVE_MOST * UDP_BATCH);
    return count;
}
