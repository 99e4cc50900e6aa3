/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.c - frames into datagrams and back: the kernel's UDP stack is the network interface.
 *
 * A datagram has one frame or more, one behind the other.  Short ones to one peer that are
 * queued together share it.  Long ones of one length, the last may be shorter, go to the kernel as
 * one datagram that it or the network interface cuts (UDP_SEGMENT); and what came close together it
 * may hand over in one piece (UDP_GRO), which are frames one behind the other again.
 */
#include "datagram/udp/udp.h"

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
    DOUBT_LEAST_US = 1000000, /* between two answers that a peer does not listen, to believe it */
    DOUBT_MOST_US = 60000000, /* after that the first one is forgotten */
    SHARED_MOST = 536, /* bytes of a datagram that is shared: no more than a frame that the layer
                          above takes to pass everywhere, or sharing would lose what passes alone */
};

/* ---- sending -------------------------------------------------------------------------- */

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
    struct iovec train[DATAGRAM_BATCH];
    union segment_control control[DATAGRAM_BATCH];
};

/* The link that frame i goes to; its address is the link's `peer`. */
static struct datagram_link *link_of(const struct datagram_batch *b, unsigned i)
{
    uint8_t *place = b->message[i].msg_hdr.msg_name;

    return (struct datagram_link *)(place - offsetof(struct datagram_link, peer));
}

static bool same_peer(const struct datagram_batch *b, unsigned i, unsigned j)
{
    return b->message[i].msg_hdr.msg_name == b->message[j].msg_hdr.msg_name;
}

/* How many frames from `first` on share a datagram that is not cut. */
static unsigned run_of_short(const struct datagram_batch *b, unsigned first)
{
    uint32_t sum = b->bytes[first];
    unsigned end = first + 1;

    for (; end < b->count && same_peer(b, first, end); end++) {
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
    const uint32_t segment = b->bytes[first];
    uint32_t sum = segment;
    unsigned end = first + 1;

    if (!ue->segments || link_of(b, first)->uncut || segment > ue->datagram_most)
        return 1;
    for (; end < b->count && end - first < SEGMENTS_MOST && same_peer(b, first, end); end++) {
        sum += b->bytes[end];
        if (b->bytes[end] > segment || sum > UDP_PAYLOAD_MAX)
            break;
        if (b->bytes[end] < segment)
            return end + 1 - first;
    }
    return end - first;
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

/* Frames that lie one behind the other, each in one piece, are one piece. */
static bool make_train(const struct datagram_batch *b, unsigned first, unsigned run,
                       struct iovec *train)
{
    *train = (struct iovec){b->message[first].msg_hdr.msg_iov[0].iov_base, 0};
    for (unsigned i = first; i < first + run; i++) {
        const struct msghdr *message = &b->message[i].msg_hdr;
        const uint8_t *end = (const uint8_t *)train->iov_base + train->iov_len;

        if (message->msg_iovlen != 1 || message->msg_iov[0].iov_base != end)
            return false;
        train->iov_len += message->msg_iov[0].iov_len;
    }
    return true;
}

/* The pieces of frames that follow one another follow one another, too. */
static void join_frames(const struct datagram_batch *b, unsigned first, unsigned run,
                        struct msghdr *message, struct iovec *train)
{
    if (make_train(b, first, run, train)) {
        message->msg_iov = train;
        return;
    }
    for (unsigned i = 1; i < run; i++)
        message->msg_iovlen += b->message[first + i].msg_hdr.msg_iovlen;
}

static void make_datagrams(const struct udp_endpoint *ue, const struct datagram_batch *b,
                           struct datagrams *d)
{
    d->count = 0;
    for (unsigned first = 0; first < b->count; first += d->run[d->count++]) {
        struct mmsghdr *message = &d->message[d->count];
        const bool is_short = b->bytes[first] <= SHARED_MOST / 2;
        const unsigned run = is_short ? run_of_short(b, first) : run_of_long(ue, b, first);

        *message = b->message[first];
        if (run > 1)
            join_frames(b, first, run, &message->msg_hdr, &d->train[d->count]);
        if (run > 1 && !is_short)
            cut_into(&message->msg_hdr, &d->control[d->count], b->bytes[first]);
        d->run[d->count] = run;
    }
}

/* Anybody can forge the message that a peer does not listen, and a firewall may send it for a
 * moment. So the peer counts as gone only when that comes twice, a while apart, with nothing from
 * the peer in between. */
static void udp_doubt_peer(struct datagram_endpoint *de, uint16_t n, uint64_t now)
{
    struct datagram_link *link = &de->link[n];
    const uint64_t since = now - link->refused_us;

    if (link->refused_us == 0 || since > DOUBT_MOST_US)
        link->refused_us = now;
    else if (since >= DOUBT_LEAST_US)
        unet_datagram_gone(de, n);
}

/* The network reports that nobody listens at that address. */
static void udp_refused(struct datagram_endpoint *de, const struct datagram_place *where)
{
    const uint64_t now = unet_now_us();

    for (uint32_t n = 1; n < de->ni.ep.rx_rings; n++) {
        if (unet_datagram_same(&de->link[n].peer, where))
            udp_doubt_peer(de, (uint16_t)n, now);
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

/* Read the errors that the network has reported about peers. */
static void udp_read_errors(struct datagram_endpoint *de)
{
    for (;;) {
        struct datagram_place where = {.length = 0};
        uint8_t control[512], byte;
        struct iovec iov = {&byte, sizeof byte};
        struct msghdr message = {.msg_name = &where.any,
                                 .msg_namelen = offsetof(struct datagram_place, length),
                                 .msg_iov = &iov,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};

        if (recvmsg(de->socket, &message, MSG_ERRQUEUE) < 0)
            break;
        where.length = message.msg_namelen;
        if (says_refused(&message))
            udp_refused(de, &where);
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

/* The errors of a datagram that the kernel cannot cut: a segment is longer than the path allows, or
 * the interface does not support it. */
static bool says_uncut(int error)
{
    return error == EMSGSIZE || error == EINVAL || error == EIO || error == EOPNOTSUPP;
}

/* A datagram that cannot go (no route, or longer than the path allows) is lost.  But sendmsg also
 * returns errors that the network has reported about earlier datagrams, to any peer.  Only an error
 * that comes again after those were read is about this one. */
static unsigned udp_send(struct datagram_endpoint *de, struct datagram_batch *batch)
{
    struct udp_endpoint *ue = udp_of(de);
    struct datagrams d;

    make_datagrams(ue, batch, &d);
    for (int tries = 0; tries < 4; tries++) {
        const int n = unet_datagram_submit(de, d.message, d.count);
        const int error = errno;

        if (n > 0) {
            de->no_room = 0;
            return frames_in(&d, n);
        }
        if (error == EAGAIN || error == EWOULDBLOCK)
            return 0;
        if (error == ENOBUFS)
            return unet_datagram_no_room(de) ? frames_in(&d, 1) : 0;
        udp_read_errors(de);
        if (tries == 0)
            continue;
        if (!is_cut(&d) || !says_uncut(error))
            break;
        link_of(batch, 0)->uncut = true;
        make_datagrams(ue, batch, &d);
    }
    return frames_in(&d, 1);
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* What recvmmsg fills. */
struct udp_arrivals {
    struct mmsghdr message[UDP_ARRIVALS];
    struct iovec iov[UDP_ARRIVALS];
    struct datagram_place from[UDP_ARRIVALS];
    uint8_t bytes[UDP_ARRIVALS][UDP_ROOM];
};

enum { PLACE_BYTES = offsetof(struct datagram_place, length) };

static void arrivals_prepare(struct udp_arrivals *a)
{
    for (unsigned i = 0; i < UDP_ARRIVALS; i++) {
        a->iov[i] = (struct iovec){a->bytes[i], UDP_ROOM};
        a->message[i].msg_hdr = (struct msghdr){.msg_name = &a->from[i].any,
                                                .msg_namelen = PLACE_BYTES,
                                                .msg_iov = &a->iov[i],
                                                .msg_iovlen = 1};
    }
}

/* Datagram i is there, of so many bytes.  Returns the number of its frames. */
static int udp_take(struct datagram_endpoint *de, struct udp_arrivals *a, int i, size_t length,
                    socklen_t from)
{
    size_t at = 0;
    int count = 0;

    a->from[i].length = from;
    do {
        at += unet_datagram_arrived(de, a->bytes[i] + at, length - at, &a->from[i]);
        count++;
    } while (at < length);
    return count;
}

static int udp_receive_one(struct datagram_endpoint *de)
{
    struct udp_arrivals *a = udp_of(de)->arrivals;
    socklen_t from = PLACE_BYTES;
    const ssize_t n = recvfrom(de->socket, a->bytes[0], UDP_ROOM, 0, &a->from[0].any, &from);

    if (n >= 0)
        return udp_take(de, a, 0, (size_t)n, from);
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        udp_read_errors(de);
    return 0;
}

static int udp_receive_many(struct datagram_endpoint *de)
{
    struct udp_arrivals *a = udp_of(de)->arrivals;
    int count = 0, n = UDP_ARRIVALS;

    for (int calls = 0; calls < RECEIVE_MOST && n == UDP_ARRIVALS; calls++) {
        n = recvmmsg(de->socket, a->message, UDP_ARRIVALS, 0, NULL);
        for (int i = 0; i < n; i++) {
            struct msghdr *message = &a->message[i].msg_hdr;

            count += udp_take(de, a, i, a->message[i].msg_len, message->msg_namelen);
            message->msg_namelen = PLACE_BYTES;
        }
    }
    return count;
}

/* recvfrom costs less than recvmmsg when nothing is there.  So a look begins with recvfrom, and
 * recvmmsg follows only if this look and the one before it have found something. */
static int udp_receive(struct datagram_endpoint *de)
{
    struct udp_endpoint *ue = udp_of(de);
    const bool found_before = ue->found;
    const int count = udp_receive_one(de);

    ue->found = count > 0;
    return count > 0 && found_before ? count + udp_receive_many(de) : count;
}

/* The question itself makes the network report that nobody listens. */
static void udp_probe(struct datagram_endpoint *de, const uint16_t *asked, unsigned count)
{
    (void)asked;
    (void)count;
    udp_read_errors(de);
}

/* ---- opening -------------------------------------------------------------------------------- */

static int udp_open_arrivals(struct udp_endpoint *ue)
{
    void *memory = mmap(NULL, sizeof *ue->arrivals, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return -ENOMEM;
    ue->arrivals = memory;
    arrivals_prepare(ue->arrivals);
    return 0;
}

/* None of it is needed to work. */
static void udp_enable_offloads(struct udp_endpoint *ue)
{
    const int on = 1;
    int none = 0;

    setsockopt(ue->de.socket, SOL_UDP, UDP_GRO, &on, sizeof on);
    ue->segments = setsockopt(ue->de.socket, SOL_UDP, UDP_SEGMENT, &none, sizeof none) == 0;
}

static int udp_bind(struct datagram_endpoint *de)
{
    struct udp_endpoint *ue = udp_of(de);
    const uint32_t header = sizeof(struct unet_frame);
    int error = udp_open_arrivals(ue);

    if (error == 0)
        error = unet_udp_open_socket(ue);
    if (error)
        return error;
    udp_enable_offloads(ue);
    de->message_most = UDP_PAYLOAD_MAX - header;
    de->ni.ep.packet_bytes = ue->datagram_most - header;
    return 0;
}

static void udp_unbind(struct datagram_endpoint *de)
{
    if (de->socket >= 0)
        close(de->socket);
    if (udp_of(de)->arrivals)
        munmap(udp_of(de)->arrivals, sizeof *udp_of(de)->arrivals);
}

static const struct datagram_transport udp_transport = {
    .ops = &unet_udp_ops,
    .endpoint_bytes = sizeof(struct udp_endpoint),
    .bind = udp_bind,
    .unbind = udp_unbind,
    .resolve = unet_udp_resolve,
    .send = udp_send,
    .say = unet_datagram_say,
    .receive = udp_receive,
    .probe = udp_probe,
};

static int udp_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_datagram_open(&udp_transport, config, endpoint);
}

#define UDP_PLACES UNET_INTERFACE_NAMES "an address, a network or an interface of every node"

static const struct unet_remedy udp_remedies[] = {
    {-EADDRNOTAVAIL, UDP_PLACES},
    {-EINVAL, UDP_PLACES},
    {-EADDRINUSE, "all UDP ports there have owners: end some (ss -uanp), or widen "
                  "net.ipv4.ip_local_port_range (sysctl)"},
    {0, NULL}};

const struct unet_ops unet_udp_ops = {
    .name = "udp",
    .network = true,
    .remedies = udp_remedies,
    .open = udp_open,
    .close = unet_datagram_close,
    .address = unet_ni_address,
    .connect = unet_datagram_connect,
    .disconnect = unet_datagram_disconnect,
    .state = unet_datagram_state,
    .kick = unet_datagram_kick,
    .progress = unet_datagram_progress,
    .wait = unet_ni_wait,
    .datagrams = &unet_datagram_packet_ops,
};
