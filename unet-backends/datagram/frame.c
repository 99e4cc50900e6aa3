/* SPDX-License-Identifier: BSD-3-Clause
 *
 * frame.c - messages into frames and back.
 */
#include "datagram/datagram.h"

#include <errno.h>
#include <string.h>

enum {
    NO_ROOM_MOST = 64, /* tries, in less than a millisecond */
    LONE_MOST = 256,   /* bytes of a frame that is cheaper to copy than to have gathered */
};

/* ---- sending -------------------------------------------------------------------------- */

static int descriptor_error(const struct datagram_endpoint *de, const struct unet_desc *desc)
{
    int error = unet_not_open(&de->ni.ep, desc->channel);

    if (error)
        return error;
    if (desc->kind == UNET_INLINE)
        return desc->length <= UNET_INLINE_MAX ? 0 : -EMSGSIZE;
    if (desc->kind != UNET_PIECES)
        return -EINVAL;
    error = unet_check_pieces(desc, de->ni.ep.config.segment_bytes);
    if (error)
        return error;
    return desc->length <= de->message_most ? 0 : -EMSGSIZE;
}

static unsigned frame_gather(const struct datagram_endpoint *de, const struct unet_desc *desc,
                             struct iovec *iov)
{
    if (desc->kind == UNET_INLINE) {
        *iov = (struct iovec){(void *)desc->data, desc->length};
        return 1;
    }
    for (unsigned i = 0; i < desc->pieces; i++)
        iov[i] = (struct iovec){de->ni.ep.segment + desc->piece[i].offset, desc->piece[i].length};
    return desc->pieces;
}

static inline struct unet_frame frame_header(const struct datagram_endpoint *de,
                                             const struct datagram_link *link,
                                             enum unet_frame_kind kind, uint32_t length,
                                             uint32_t user)
{
    return (struct unet_frame){
        .version = UNET_FRAME_VERSION,
        .kind = (uint8_t)kind,
        .length = (uint16_t)length,
        .to_port = link->peer_port,
        .from_port = de->port,
        .key = link->key_out,
        .life = link->peer_life,
        .user = user,
    };
}

/* The next frame of a batch is for that link, has so many bytes, and lies in those pieces. */
static void batch_add(struct datagram_batch *b, struct datagram_link *link, uint32_t bytes,
                      struct iovec *iov, size_t pieces)
{
    const unsigned i = b->count++;

    b->bytes[i] = bytes;
    b->message[i] = (struct mmsghdr){
        .msg_hdr = {.msg_name = &link->peer,
                    .msg_namelen = link->peer.length,
                    .msg_iov = iov,
                    .msg_iovlen = pieces},
    };
}

static void batch_add_message(struct datagram_endpoint *de, struct datagram_batch *b,
                              struct iovec *iov, const struct unet_desc *desc)
{
    const bool is_inline = desc->kind == UNET_INLINE;
    struct datagram_link *link = &de->link[desc->channel];
    struct unet_frame *header = &b->header[b->count];

    *header = frame_header(de, link, is_inline ? UNET_FRAME_INLINE : UNET_FRAME_PIECES,
                           desc->length, desc->user);
    iov[0] = (struct iovec){header, sizeof *header};
    batch_add(b, link, (uint32_t)sizeof *header + desc->length, iov,
              1 + frame_gather(de, desc, iov + 1));
}

/* Add descriptors from the head of the send queue on, up to the first bad one. */
static void batch_collect(struct datagram_endpoint *de, struct datagram_batch *b)
{
    struct iovec *iov = b->iov;

    b->count = 0;
    while (b->count < DATAGRAM_BATCH) {
        const uint32_t position = de->ni.tx.position + b->count;
        const struct unet_desc *desc = &de->ni.tx.shared->slot[position & de->ni.tx.mask];

        if (__atomic_load_n(&desc->turn, __ATOMIC_ACQUIRE) != position + 1 ||
            descriptor_error(de, desc) != 0)
            break;
        batch_add_message(de, b, iov, desc);
        iov += b->message[b->count - 1].msg_hdr.msg_iovlen;
    }
}

static void tx_release(struct datagram_endpoint *de, unsigned count)
{
    while (count-- > 0)
        unet_ring_release(&de->ni.tx);
}

static size_t message_bytes(const struct msghdr *message)
{
    size_t sum = 0;

    for (size_t i = 0; i < message->msg_iovlen; i++)
        sum += message->msg_iov[i].iov_len;
    return sum;
}

static size_t message_copy(const struct msghdr *message, uint8_t *to)
{
    size_t at = 0;

    for (size_t i = 0; i < message->msg_iovlen; i++) {
        memcpy(to + at, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
        at += message->msg_iov[i].iov_len;
    }
    return at;
}

/* The system calls that take fewer arguments cost less. */
static ssize_t message_send(int socket, const struct msghdr *message)
{
    const struct iovec *iov = message->msg_iov;
    uint8_t copy[LONE_MOST];
    struct iovec whole;

    if (message->msg_controllen > 0)
        return sendmsg(socket, message, 0);
    if (message->msg_iovlen > 1) {
        if (message_bytes(message) > LONE_MOST)
            return sendmsg(socket, message, 0);
        whole = (struct iovec){copy, message_copy(message, copy)};
        iov = &whole;
    }
    return sendto(socket, iov->iov_base, iov->iov_len, 0, message->msg_name, message->msg_namelen);
}

int unet_datagram_submit(int socket, struct mmsghdr *message, unsigned count)
{
    if (count == 1)
        return message_send(socket, &message->msg_hdr) < 0 ? -1 : 1;
    return sendmmsg(socket, message, count, 0);
}

unsigned unet_datagram_no_room(struct datagram_endpoint *de)
{
    if (++de->no_room < NO_ROOM_MOST)
        return 0;
    de->no_room = 0;
    return 1;
}

int unet_datagram_service(struct datagram_endpoint *de)
{
    struct datagram_batch b;
    int done = 0;

    for (;;) {
        const struct unet_desc *head = unet_ring_peek(&de->ni.tx);
        unsigned sent = 1;
        int error;

        if (!head)
            break;
        error = descriptor_error(de, head);
        if (error) {
            unet_refuse(&de->ni.ep, &de->ni.errors, head, error);
        } else {
            batch_collect(de, &b);
            sent = de->transport->send(de, &b);
        }
        if (sent == 0)
            break;
        tx_release(de, sent);
        done += (int)sent;
    }
    unet_ring_publish(&de->ni.tx);
    return done;
}

/* ---- sending past the queues ------------------------------------------------------------- */

_Static_assert(sizeof(struct unet_frame) <= UNET_PACKET_HEADROOM, "headers fit");

static bool packet_may_go(const struct datagram_endpoint *de, const struct unet_packet *packet)
{
    return unet_not_open(&de->ni.ep, packet->channel) == 0 && packet->length <= de->message_most;
}

/* From the first packet on, up to one that cannot go.  Their headers are written in front of them.
 */
static void batch_collect_packets(struct datagram_endpoint *de, struct datagram_batch *b,
                                  const struct unet_packet *packet, unsigned count)
{
    for (b->count = 0; b->count < count && b->count < DATAGRAM_BATCH; packet++) {
        struct datagram_link *link = &de->link[packet->channel];
        struct iovec *iov = &b->iov[b->count];
        struct unet_frame header;

        if (!packet_may_go(de, packet))
            break;
        header = frame_header(de, link, UNET_FRAME_PIECES, packet->length, 0);
        *iov = (struct iovec){packet->bytes - sizeof header, sizeof header + packet->length};
        memcpy(iov->iov_base, &header, sizeof header);
        batch_add(b, link, (uint32_t)iov->iov_len, iov, 1);
    }
}

unsigned unet_datagram_send_packets(struct unet_endpoint *ep, const struct unet_packet *packet,
                                    unsigned count)
{
    struct datagram_endpoint *de = datagram_of(ep);
    struct datagram_batch b;
    unsigned done = 0;

    while (done < count) {
        unsigned sent = 1;

        batch_collect_packets(de, &b, packet + done, count - done);
        if (b.count > 0)
            sent = de->transport->send(de, &b);
        if (sent == 0)
            break;
        done += sent;
    }
    return done;
}

void unet_datagram_attach(struct unet_endpoint *ep, unet_packet_fn *fn, void *arg)
{
    struct datagram_endpoint *de = datagram_of(ep);

    de->arrived = fn;
    de->arrived_arg = arg;
}

/* ---- receiving ---------------------------------------------------------------------------- */

static bool free_fill_pieces(struct datagram_endpoint *de, struct unet_desc *slot,
                             const uint8_t *bytes, uint32_t length)
{
    struct unet_piece piece[UNET_PIECES_MAX];
    const int count = unet_ni_take_buffers(&de->ni, length, piece);

    if (count < 0)
        return false;
    for (int i = 0; i < count; i++) {
        memcpy(de->ni.ep.segment + piece[i].offset, bytes, piece[i].length);
        bytes += piece[i].length;
        slot->piece[i] = piece[i];
    }
    slot->pieces = (uint8_t)count;
    return true;
}

static void frame_deliver(struct datagram_endpoint *de, uint16_t n, const struct unet_frame *frame,
                          const uint8_t *bytes)
{
    struct unet_ring *in = &de->ni.in[n];
    struct unet_desc *slot = unet_ring_reserve(in);
    bool room = slot != NULL;

    datagram_heard(&de->link[n]);
    if (room && frame->kind == UNET_FRAME_INLINE) {
        slot->kind = UNET_INLINE;
        slot->pieces = 0;
        memcpy(slot->data, bytes, frame->length);
    } else if (room) {
        slot->kind = UNET_PIECES;
        room = free_fill_pieces(de, slot, bytes, frame->length);
    }
    if (!room) {
        de->ni.ep.stats.overruns++;
        return;
    }
    slot->channel = n;
    slot->length = frame->length;
    slot->user = frame->user;
    unet_ring_submit(in);
    unet_rx_mark_filled(&de->ni.ep, n);
    de->ni.ep.delivered++;
}

/* Past the queues, or into them. */
void unet_datagram_take(struct datagram_endpoint *de, uint16_t n, const struct unet_frame *frame,
                        const uint8_t *bytes)
{
    if (!de->arrived) {
        frame_deliver(de, n, frame, bytes);
        return;
    }
    datagram_heard(&de->link[n]);
    de->ni.handed++;
    de->arrived(de->arrived_arg, n, bytes, frame->length, de->marked);
}

bool unet_datagram_is_message(const struct unet_frame *frame)
{
    return frame->kind == UNET_FRAME_INLINE || frame->kind == UNET_FRAME_PIECES;
}

/* Bytes beyond the frame's length are padding: networks have a shortest frame. */
bool unet_datagram_well_formed(const struct unet_frame *frame, size_t room)
{
    if (frame->version != UNET_FRAME_VERSION || frame->length > room)
        return false;
    switch (frame->kind) {
    case UNET_FRAME_INLINE:
        return frame->length <= UNET_INLINE_MAX;
    case UNET_FRAME_PIECES:
        return frame->length > 0;
    default:
        return frame->kind >= UNET_FRAME_OPEN && frame->kind <= UNET_FRAME_GONE &&
               frame->length == 0;
    }
}

/* The channel that the message is for, 0: none. */
static uint16_t frame_channel(const struct datagram_endpoint *de, const struct unet_frame *frame,
                              const struct datagram_place *from)
{
    const uint16_t n = unet_datagram_find(de, frame->key);
    const struct datagram_link *link = &de->link[n];

    return n != 0 && link->life == frame->life && link->peer_port == frame->from_port &&
                   unet_datagram_same(&link->peer, from)
               ? n
               : 0;
}

size_t unet_datagram_arrived(struct datagram_endpoint *de, const uint8_t *bytes, size_t length,
                             const struct datagram_place *from)
{
    struct unet_frame frame;
    uint16_t n;

    if (length >= sizeof frame)
        memcpy(&frame, bytes, sizeof frame);
    if (length < sizeof frame || !unet_datagram_well_formed(&frame, length - sizeof frame)) {
        de->ni.ep.stats.malformed++;
        return length;
    }
    if (!unet_datagram_is_message(&frame))
        unet_datagram_control(de, &frame, from);
    else if ((n = frame_channel(de, &frame, from)) == 0)
        de->ni.ep.stats.foreign++;
    else
        unet_datagram_take(de, n, &frame, bytes + sizeof frame);
    return sizeof frame + frame.length;
}
