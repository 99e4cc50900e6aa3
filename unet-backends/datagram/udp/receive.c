/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - datagrams into frames.
 *
 * What came close together the kernel may hand over in one piece (UDP_GRO): frames one behind the
 * other, as in a datagram that was sent so.
 */
#include "datagram/udp/udp.h"

#include <errno.h>
#include <netinet/ip.h>
#include <sys/mman.h>

enum {
    LONG = 1000,       /* bytes of a datagram that is hardly a lone message's */
    FEW = 4,           /* datagrams, more of which queue */
    ASK = 64,          /* for marks, until so many lone ones have come in a row */
    RECEIVE_MOST = 16, /* system calls that take in what arrived, at a time */
    PAUSE_MOST = 15,   /* looks that leave out the first socket while others are connected */
};

/* How the kernel tells of UDP_GRO and of the mark for congestion. */
union arrival_control {
    struct cmsghdr align;
    uint8_t bytes[2 * CMSG_SPACE(sizeof(int))];
};

/* What recvmmsg fills. */
struct udp_arrivals {
    struct mmsghdr message[UDP_ARRIVALS];
    struct iovec iov[UDP_ARRIVALS];
    struct datagram_place from[UDP_ARRIVALS];
    union arrival_control control[UDP_ARRIVALS];
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
                                                .msg_iovlen = 1,
                                                .msg_control = &a->control[i],
                                                .msg_controllen = sizeof a->control[i]};
    }
}

static bool is_marked(struct msghdr *message)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) ||
            (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS))
            return (*CMSG_DATA(c) & IPTOS_ECN_MASK) == IPTOS_ECN_CE;
    }
    return false;
}

/* Number i of what was received, of so many bytes.  Its message can be filled again then. */
static int arrival_take(struct datagram_endpoint *de, struct udp_arrivals *a, int i, size_t length)
{
    struct msghdr *message = &a->message[i].msg_hdr;
    int count;

    a->from[i].length = message->msg_namelen;
    de->marked = is_marked(message);
    message->msg_namelen = PLACE_BYTES;
    message->msg_controllen = sizeof a->control[i];
    count = unet_datagram_train_arrived(de, a->bytes[i], length, &a->from[i]);
    de->marked = false;
    return count;
}

/* A connected socket's datagrams can have come from its peer alone. */
static ssize_t socket_receive_from(const struct udp_socket *s, uint8_t *bytes,
                                   struct datagram_place *from)
{
    socklen_t length = PLACE_BYTES;
    ssize_t n;

    if (s->peer.length > 0)
        return recv(s->fd, bytes, UDP_ROOM, 0);
    n = recvfrom(s->fd, bytes, UDP_ROOM, 0, &from->any, &length);
    from->length = length;
    return n;
}

static void ask_for_marks(const struct udp_endpoint *ue, const struct udp_socket *s, int on)
{
    if (ue->own.family == AF_INET6)
        setsockopt(s->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
    else
        setsockopt(s->fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
}

/* The kernel takes 0.1 us to tell of marks, which lone messages need not lose: they queue nowhere.
 */
static void note_queued(const struct udp_endpoint *ue, struct udp_socket *s, bool queued)
{
    const bool asked = s->asks > 0;

    if (queued)
        s->asks = ASK;
    else if (asked)
        s->asks--;
    if (asked != (s->asks > 0))
        ask_for_marks(ue, s, s->asks > 0);
}

static int socket_receive_one(struct datagram_endpoint *de, struct udp_socket *s)
{
    struct udp_arrivals *a = udp_of(de)->arrivals;
    const bool asked = s->asks > 0;
    const ssize_t n = asked ? recvmsg(s->fd, &a->message[0].msg_hdr, 0)
                            : socket_receive_from(s, a->bytes[0], &a->from[0]);

    if (n >= 0)
        note_queued(udp_of(de), s, n >= LONG);
    if (n >= 0 && asked)
        return arrival_take(de, a, 0, (size_t)n);
    if (n >= 0)
        return unet_datagram_train_arrived(de, a->bytes[0], (size_t)n,
                                           s->peer.length > 0 ? &s->peer : &a->from[0]);
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        unet_udp_read_socket_errors(de, s->fd);
    return 0;
}

static int socket_receive_many(struct datagram_endpoint *de, struct udp_socket *s)
{
    struct udp_arrivals *a = udp_of(de)->arrivals;
    int count = 0, n = UDP_ARRIVALS;

    for (int calls = 0; calls < RECEIVE_MOST && n == UDP_ARRIVALS; calls++) {
        n = recvmmsg(s->fd, a->message, UDP_ARRIVALS, 0, NULL);
        for (int i = 0; i < n; i++)
            count += arrival_take(de, a, i, a->message[i].msg_len);
        if (n > FEW)
            note_queued(udp_of(de), s, true);
    }
    return count;
}

/* recvfrom costs less than recvmmsg when nothing is there.  So a look begins with recvfrom, and
 * recvmmsg follows only if this look and the one before it have found something. */
static int socket_receive(struct datagram_endpoint *de, struct udp_socket *s)
{
    const bool found_before = s->found;
    const int count = socket_receive_one(de, s);

    s->found = count > 0;
    return count > 0 && found_before ? count + socket_receive_many(de, s) : count;
}

void unet_udp_drain(struct udp_endpoint *ue, struct udp_socket *s)
{
    while (socket_receive(&ue->de, s) > 0)
        ;
}

/* The first socket is left out the more often, the longer nothing has come to it. */
static bool first_is_skipped(struct udp_endpoint *ue)
{
    if (ue->skip == 0)
        return false;
    ue->skip--;
    return true;
}

static int sockets_receive(struct udp_endpoint *ue)
{
    int count = 0, first;

    for (unsigned i = 1; i < UDP_SOCKETS; i++) {
        if (ue->socket[i].fd >= 0)
            count += socket_receive(&ue->de, &ue->socket[i]);
    }
    if (first_is_skipped(ue))
        return count;
    first = socket_receive(&ue->de, &ue->socket[0]);
    ue->pause = first > 0 ? 0 : 2 * ue->pause + 1;
    if (ue->pause > PAUSE_MOST)
        ue->pause = PAUSE_MOST;
    ue->skip = ue->pause;
    return count + first;
}

int unet_udp_receive(struct datagram_endpoint *de)
{
    struct udp_endpoint *ue = udp_of(de);

    if (ue->samples == UDP_SAMPLES)
        unet_udp_end_epoch(ue);
    return ue->connected > 0 ? sockets_receive(ue) : socket_receive(de, &ue->socket[0]);
}

int unet_udp_open_arrivals(struct udp_endpoint *ue)
{
    void *memory = mmap(NULL, sizeof *ue->arrivals, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED)
        return -ENOMEM;
    ue->arrivals = memory;
    arrivals_prepare(ue->arrivals);
    return 0;
}

void unet_udp_close_arrivals(struct udp_endpoint *ue)
{
    if (ue->arrivals)
        munmap(ue->arrivals, sizeof *ue->arrivals);
}
