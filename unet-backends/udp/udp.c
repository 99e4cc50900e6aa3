/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.c - frames into datagrams and back: the kernel's UDP stack is the network interface.
 *
 * Frames of one length to one peer, the last may be shorter, go to the kernel as one long datagram
 * that it or the network interface cuts (UDP_SEGMENT), and what came close together it may hand
 * over in one piece (UDP_GRO).  On the network each frame is a datagram.
 */
#include "udp/udp.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    RECEIVE_MOST = 16, /* system calls that take in what arrived, at a time */
    SEGMENTS_MOST = 64,
};

/* ---- sending -------------------------------------------------------------------------- */

/* What the kernel has to be told beside the bytes: how long the segments are. */
union segment_control {
    struct cmsghdr align;
    uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
};

/* A batch as it is handed to the kernel: frames `i` .. `i + run - 1` as one datagram. */
struct datagrams {
    unsigned count;
    unsigned run[EMU_BATCH];
    struct mmsghdr message[EMU_BATCH];
    union segment_control control[EMU_BATCH];
};

/* The frames from `first` on that may go as one. */
static unsigned run_of(const struct udp_endpoint *ue, const struct emu_batch *b, unsigned first)
{
    const uint32_t segment = b->bytes[first];
    uint32_t sum = segment;
    unsigned n = 1;

    if (!ue->segments || segment > ue->datagram_most)
        return 1;
    while (first + n < b->count && n < SEGMENTS_MOST) {
        const unsigned next = first + n;

        if (b->message[next].msg_hdr.msg_name != b->message[first].msg_hdr.msg_name ||
            b->bytes[next] > segment || sum + b->bytes[next] > UDP_PAYLOAD_MAX)
            break;
        sum += b->bytes[next];
        n++;
        if (b->bytes[next] < segment)
            break;
    }
    return n;
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

/* Pieces of frames that follow one another lie one behind the other. */
static void make_datagrams(const struct udp_endpoint *ue, const struct emu_batch *b,
                           struct datagrams *d)
{
    d->count = 0;
    for (unsigned first = 0; first < b->count; first += d->run[d->count++]) {
        struct mmsghdr *message = &d->message[d->count];
        const unsigned run = run_of(ue, b, first);

        *message = b->message[first];
        for (unsigned i = 1; i < run; i++)
            message->msg_hdr.msg_iovlen += b->message[first + i].msg_hdr.msg_iovlen;
        if (run > 1)
            cut_into(&message->msg_hdr, &d->control[d->count], b->bytes[first]);
        d->run[d->count] = run;
    }
}

/* Nobody listens at that address. */
static void refused(struct emu_endpoint *ee, const struct emu_place *where)
{
    for (uint32_t n = 1; n < ee->ep.rx_rings; n++) {
        if (unet_emu_same(&ee->link[n].peer, where))
            unet_emu_gone(ee, (uint16_t)n);
    }
}

static bool says_refused(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct sock_extended_err error;

        if (!(c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) &&
            !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
            continue;
        memcpy(&error, CMSG_DATA(c), sizeof error);
        return error.ee_errno == ECONNREFUSED;
    }
    return false;
}

/* Read what the network says of peers that are not there. */
static void read_errors(struct emu_endpoint *ee)
{
    for (;;) {
        struct emu_place where = {.length = 0};
        uint8_t control[512], byte;
        struct iovec iov = {&byte, sizeof byte};
        struct msghdr message = {.msg_name = &where.any,
                                 .msg_namelen = offsetof(struct emu_place, length),
                                 .msg_iov = &iov,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};

        if (recvmsg(ee->socket, &message, MSG_ERRQUEUE) < 0)
            break;
        where.length = message.msg_namelen;
        if (says_refused(&message))
            refused(ee, &where);
    }
}

static unsigned frames_in(const struct datagrams *d, int datagrams)
{
    unsigned frames = 0;

    for (int i = 0; i < datagrams; i++)
        frames += d->run[i];
    return frames;
}

/* A datagram that cannot go (the way is gone, it is longer than the way allows) is lost; errors of
 * earlier ones are read and passed over. */
static unsigned udp_send(struct emu_endpoint *ee, struct emu_batch *batch)
{
    struct udp_endpoint *ue = udp_of(ee);
    struct datagrams d;

    make_datagrams(ue, batch, &d);
    for (int tries = 0; tries < 4; tries++) {
        const int n = sendmmsg(ee->socket, d.message, d.count, 0);

        if (n > 0)
            return frames_in(&d, n);
        if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
            return 0;
        if (errno == ECONNREFUSED) {
            read_errors(ee);
        } else if (d.run[0] > 1) { /* the way allows shorter ones only: from now on one by one */
            ue->segments = false;
            make_datagrams(ue, batch, &d);
        } else if (errno != EINTR) {
            break;
        }
    }
    return frames_in(&d, 1);
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* What recvmmsg fills. */
struct udp_arrivals {
    struct mmsghdr message[UDP_ARRIVALS];
    struct iovec iov[UDP_ARRIVALS];
    struct emu_place from[UDP_ARRIVALS];
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(int))];
    } control[UDP_ARRIVALS];
    uint8_t bytes[UDP_ARRIVALS][UDP_ROOM];
};

/* To be filled again. */
static void prepare(struct udp_arrivals *a, unsigned i)
{
    struct msghdr *message = &a->message[i].msg_hdr;

    message->msg_namelen = offsetof(struct emu_place, length);
    message->msg_controllen = sizeof a->control[i];
}

static void prepare_all(struct udp_arrivals *a)
{
    for (unsigned i = 0; i < UDP_ARRIVALS; i++) {
        a->iov[i] = (struct iovec){a->bytes[i], UDP_ROOM};
        a->message[i].msg_hdr = (struct msghdr){.msg_name = &a->from[i].any,
                                                .msg_iov = &a->iov[i],
                                                .msg_iovlen = 1,
                                                .msg_control = &a->control[i]};
        prepare(a, i);
    }
}

/* The length of the datagrams that the kernel has joined, or of the only one. */
static uint32_t segment_of(const struct msghdr *message, uint32_t all)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(message);
    int bytes;

    if (!c || c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO)
        return all;
    memcpy(&bytes, CMSG_DATA(c), sizeof bytes);
    return bytes > 0 && (uint32_t)bytes < all ? (uint32_t)bytes : all;
}

static int take_apart(struct emu_endpoint *ee, struct udp_arrivals *a, unsigned i)
{
    const uint32_t all = a->message[i].msg_len;
    const uint32_t segment = segment_of(&a->message[i].msg_hdr, all);
    uint32_t at = 0;
    int count = 0;

    a->from[i].length = a->message[i].msg_hdr.msg_namelen;
    do {
        const uint32_t left = all - at;

        unet_emu_arrived(ee, a->bytes[i] + at, left < segment ? left : segment, &a->from[i]);
        at += segment;
        count++;
    } while (at < all);
    prepare(a, i);
    return count;
}

static int udp_receive(struct emu_endpoint *ee)
{
    struct udp_arrivals *a = udp_of(ee)->arrivals;
    int count = 0;

    for (int calls = 0; calls < RECEIVE_MOST; calls++) {
        const int n = recvmmsg(ee->socket, a->message, UDP_ARRIVALS, 0, NULL);

        if (n < 0 && errno == ECONNREFUSED)
            read_errors(ee);
        for (int i = 0; i < n; i++)
            count += take_apart(ee, a, (unsigned)i);
        if (n < UDP_ARRIVALS)
            break;
    }
    return count;
}

static void udp_probe(struct emu_endpoint *ee, uint16_t n)
{
    (void)n; /* the network answered to the question itself */
    read_errors(ee);
}

/* ---- opening -------------------------------------------------------------------------------- */

static int open_arrivals(struct udp_endpoint *ue)
{
    void *memory = mmap(NULL, sizeof *ue->arrivals, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return -ENOMEM;
    ue->arrivals = memory;
    prepare_all(ue->arrivals);
    return 0;
}

/* None of it is needed to work. */
static void join_and_cut(struct udp_endpoint *ue)
{
    const int on = 1;
    int none = 0;

    setsockopt(ue->ee.socket, SOL_UDP, UDP_GRO, &on, sizeof on);
    ue->segments = setsockopt(ue->ee.socket, SOL_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
}

static int udp_bind(struct emu_endpoint *ee)
{
    struct udp_endpoint *ue = udp_of(ee);
    const uint32_t header = sizeof(struct unet_frame);
    int error = open_arrivals(ue);

    if (error == 0)
        error = unet_udp_open_socket(ue);
    if (error)
        return error;
    join_and_cut(ue);
    ee->message_most = UDP_PAYLOAD_MAX - header;
    ee->ep.packet_bytes = ue->datagram_most - header;
    return 0;
}

static void udp_unbind(struct emu_endpoint *ee)
{
    if (ee->socket >= 0)
        close(ee->socket);
    if (udp_of(ee)->arrivals)
        munmap(udp_of(ee)->arrivals, sizeof *udp_of(ee)->arrivals);
}

static const struct emu_transport udp_transport = {
    .ops = &unet_udp_ops,
    .bytes = sizeof(struct udp_endpoint),
    .bind = udp_bind,
    .unbind = udp_unbind,
    .resolve = unet_udp_resolve,
    .send = udp_send,
    .receive = udp_receive,
    .probe = udp_probe,
};

static int udp_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_emu_open(&udp_transport, config, endpoint);
}

static void udp_address_of(const struct unet_endpoint *ep, struct unet_address *address)
{
    const struct udp_endpoint *ue = (const struct udp_endpoint *)ep;

    address->length = sizeof ue->own;
    memcpy(address->bytes, &ue->own, sizeof ue->own);
}

const struct unet_ops unet_udp_ops = {
    .name = "udp",
    .network = true,
    .network = true,
    .open = udp_open,
    .close = unet_emu_close,
    .address = udp_address_of,
    .connect = unet_emu_connect,
    .disconnect = unet_emu_disconnect,
    .state = unet_emu_state,
    .kick = unet_emu_kick,
    .progress = unet_emu_progress,
    .wait = unet_emu_wait,
};
