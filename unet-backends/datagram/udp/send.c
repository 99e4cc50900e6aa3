/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - frames into datagrams.
 *
 * A datagram has one frame or more, one behind the other.  Short ones to one peer that are
 * queued together share it.  Long ones of one length, the last may be shorter, go to the kernel as
 * one datagram that it or the network interface cuts (UDP_SEGMENT).
 */
#include "datagram/udp/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

enum {
    SHARED_MOST = 536, /* bytes of a datagram that is shared: no more than a frame that the layer
                          above takes to pass everywhere, or sharing would lose what passes alone */
};

/* The control message that gives the kernel the length of the segments. */
union segment_control {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
};

/* A batch as it is handed to the kernel: frames `i` .. `i + run - 1` as one datagram. */
struct datagrams {
    unsigned count;
    unsigned run[DATAGRAM_BATCH];
    struct mmsghdr message[DATAGRAM_BATCH];
    struct iovec piece[DATAGRAM_PIECES];
    union segment_control control[DATAGRAM_BATCH];
};

/* How many frames from `first` on share a datagram that is not cut. */
static unsigned run_of_short(const struct datagram_batch *b, unsigned first)
{
    uint32_t sum = b->bytes[first];
    unsigned end = first + 1;

    for (; end < b->count && unet_datagram_same_peer(b, first, end); end++) {
        sum += b->bytes[end];
        if (sum > SHARED_MOST)
            break;
    }
    return end - first;
}

/* How many frames from `first` on go as one datagram that the kernel cuts. */
static unsigned run_of_long(const struct udp_endpoint *ue, const struct datagram_batch *b,
                            unsigned first)
{
    if (!ue->segments || b->bytes[first] > ue->datagram_most ||
        !unet_datagram_train_allowed(b, first))
        return 1;
    return unet_datagram_train_frames(b, first, UDP_PAYLOAD_MAX);
}

static void cut_into(struct msghdr *message, union segment_control *control, uint32_t segment)
{
    const uint16_t bytes = (uint16_t)segment;

    control->align = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof bytes), .cmsg_level = SOL_UDP, .cmsg_type = UDP_SEGMENT};
    memcpy(CMSG_DATA(&control->align), &bytes, sizeof bytes);
    message->msg_control = control;
    message->msg_controllen = sizeof *control;
}

/* The frames from the beginning on that go by one socket. */
static void make_datagrams(const struct udp_endpoint *ue, const struct datagram_batch *b,
                           struct datagrams *d)
{
    const uint8_t socket = datagram_link_of(b, 0)->socket;
    struct iovec *piece = d->piece;

    d->count = 0;
    for (unsigned first = 0; first < b->count && datagram_link_of(b, first)->socket == socket;
         first += d->run[d->count++]) {
        struct mmsghdr *message = &d->message[d->count];
        const bool is_short = b->bytes[first] <= SHARED_MOST / 2;
        const unsigned run = is_short ? run_of_short(b, first) : run_of_long(ue, b, first);

        *message = b->message[first];
        if (socket != 0) { /* it is connected */
            message->msg_hdr.msg_name = NULL;
            message->msg_hdr.msg_namelen = 0;
        }
        if (run > 1) {
            message->msg_hdr.msg_iov = piece;
            message->msg_hdr.msg_iovlen = unet_datagram_train_gather(b, first, run, piece);
            piece += message->msg_hdr.msg_iovlen;
        }
        if (run > 1 && !is_short)
            cut_into(&message->msg_hdr, &d->control[d->count], b->bytes[first]);
        d->run[d->count] = run;
    }
}

static unsigned frames_in(const struct datagrams *d, int datagrams)
{
    unsigned frames = 0;

    for (int i = 0; i < datagrams; i++)
        frames += d->run[i];
    return frames;
}

static bool is_cut(const struct datagrams *d)
{
    return d->message[0].msg_hdr.msg_controllen > 0;
}

/* At irregular distances, because programs send in regular patterns. */
static void udp_sample(struct udp_endpoint *ue, const struct datagram_link *link)
{
    ue->random = ue->random * 1664525 + 1013904223;
    ue->until_sample = ue->sample_sends / 2 + 1 + (ue->random >> 24) * ue->sample_sends / 256;
    if (ue->samples < UDP_SAMPLES)
        ue->sample[ue->samples++] = (uint16_t)(link - ue->de.link);
}

/* A datagram that cannot go (no route, or longer than the path allows) is lost.  But sendmsg also
 * returns errors that the network has reported about earlier datagrams, to any peer.  Only an error
 * that comes again after those were read is about this one. */
unsigned unet_udp_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    struct udp_endpoint *ue = udp_of(de);
    const struct datagram_link *link = datagram_link_of(batch, 0);
    struct datagrams d;

    if (--ue->until_sample == 0)
        udp_sample(ue, link);
    make_datagrams(ue, batch, &d);
    for (int tries = 0; tries < 4; tries++) {
        const int n = unet_datagram_submit(ue->socket[link->socket].fd, d.message, d.count);
        const int error = errno;

        if (n > 0) {
            de->no_room = 0;
            return frames_in(&d, n);
        }
        if (error == EAGAIN || error == EWOULDBLOCK)
            return 0;
        if (error == ENOBUFS)
            return unet_datagram_no_room(de) ? frames_in(&d, 1) : 0;
        unet_udp_read_errors(de);
        if (tries == 0)
            continue;
        if (!is_cut(&d) || !unet_datagram_train_refused(error))
            break;
        unet_datagram_train_refuse(datagram_link_of(batch, 0));
        make_datagrams(ue, batch, &d);
    }
    return frames_in(&d, 1);
}
