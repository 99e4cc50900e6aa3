/* SPDX-License-Identifier: BSD-3-Clause
 *
 * connected.c - sockets of their own for the peers with most of the traffic.
 *
 * The kernel looks up the route for each datagram of a socket that is not connected, when it
 * leaves and when it arrives.  So peers that have a good part of the traffic get a connected socket
 * at the same local address and port: the kernel gives it what comes from that peer, and all else
 * to the first socket.  To the peer nothing changes.
 *
 * Sockets can share a port if all of them say so (SO_REUSEPORT).  Ours do for a moment only, while
 * one of them is bound, so that no other process of the user can join them.
 *
 * Every socket costs an empty look for arrivals.  That is why there are only a few, and why the
 * first one is looked at less often while nothing comes to it.
 */
#include "datagram/udp/udp.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    CONNECT_SHARE = UDP_SAMPLES / 4, /* of an epoch's samples: a peer's traffic is worth a socket */
    CLOSE_SHARE = UDP_SAMPLES / 8,   /* with less than that it no longer is */
};

/* ---- sockets -------------------------------------------------------------------------- */

static bool sockets_share_port(const struct udp_endpoint *ue, int share)
{
    for (unsigned i = 0; i < UDP_SOCKETS; i++) {
        if (ue->socket[i].fd >= 0 &&
            setsockopt(ue->socket[i].fd, SOL_SOCKET, SO_REUSEPORT, &share, sizeof share) < 0)
            return false;
    }
    return true;
}

static int socket_watch(const struct udp_endpoint *ue, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (ue->epoll < 0)
        return 0; /* nobody sleeps */
    return epoll_ctl(ue->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static void sockets_changed(struct udp_endpoint *ue)
{
    ue->connected = 0;
    for (unsigned i = 1; i < UDP_SOCKETS; i++)
        ue->connected += ue->socket[i].fd >= 0;
    ue->de.wake = ue->connected > 0 ? ue->epoll : ue->de.socket;
    ue->pause = ue->skip = 0;
}

static int socket_bind(struct udp_endpoint *ue, struct udp_socket *s)
{
    union unet_sockaddr local;
    socklen_t length = sizeof local;

    if (getsockname(ue->de.socket, &local.any, &length) < 0)
        return -errno;
    return sockets_share_port(ue, 1) && bind(s->fd, &local.any, length) == 0 ? 0 : -EADDRINUSE;
}

static int socket_open(struct udp_endpoint *ue, struct udp_socket *s,
                       const struct datagram_place *peer)
{
    int error;

    s->fd = unet_udp_socket(peer->any.sa_family);
    if (s->fd < 0)
        return s->fd;
    error = socket_bind(ue, s);
    sockets_share_port(ue, 0);
    if (error == 0 && connect(s->fd, &peer->any, peer->length) < 0)
        error = -errno;
    return error ? error : socket_watch(ue, s->fd);
}

static void socket_close(struct udp_socket *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* Between its binding and its connecting anybody's datagrams may have come to the socket. */
static void peer_connect(struct udp_endpoint *ue, unsigned i, uint16_t channel)
{
    struct datagram_link *link = &ue->de.link[channel];
    struct udp_socket *s = &ue->socket[i];

    *s = (struct udp_socket){.fd = -1, .channel = channel};
    if (socket_open(ue, s, &link->peer) != 0) {
        socket_close(s);
        ue->alone = true;
        return;
    }
    unet_udp_drain(ue, s);
    s->peer = link->peer; /* from now on nobody else's can come */
    link->socket = (uint8_t)i;
    sockets_changed(ue);
}

/* What comes between the last look and the end of the socket is lost, as on the network. */
static void peer_disconnect(struct udp_endpoint *ue, unsigned i)
{
    struct udp_socket *s = &ue->socket[i];
    struct datagram_link *link = &ue->de.link[s->channel];

    unet_udp_drain(ue, s);
    socket_close(s);
    if (link->socket == i)
        link->socket = 0;
    sockets_changed(ue);
}

/* ---- who gets one ----------------------------------------------------------------------- */

static unsigned samples_of(const struct udp_endpoint *ue, uint16_t channel)
{
    unsigned count = 0;

    for (unsigned i = 0; i < UDP_SAMPLES; i++)
        count += ue->sample[i] == channel;
    return count;
}

/* Its channel may be another peer's by now. */
static bool is_for_channel(const struct udp_endpoint *ue, unsigned i)
{
    return ue->de.link[ue->socket[i].channel].socket == i;
}

static void disconnect_some(struct udp_endpoint *ue)
{
    for (unsigned i = 1; i < UDP_SOCKETS; i++) {
        if (ue->socket[i].fd >= 0 &&
            (!is_for_channel(ue, i) || samples_of(ue, ue->socket[i].channel) < CLOSE_SHARE))
            peer_disconnect(ue, i);
    }
}

static bool place_has_socket(const struct udp_endpoint *ue, const struct datagram_place *place)
{
    for (unsigned i = 1; i < UDP_SOCKETS; i++) {
        if (ue->socket[i].fd >= 0 && unet_datagram_same(&ue->socket[i].peer, place))
            return true;
    }
    return false;
}

static unsigned unused_socket(const struct udp_endpoint *ue)
{
    unsigned i = 1;

    while (i < UDP_SOCKETS && ue->socket[i].fd >= 0)
        i++;
    return i;
}

static void connect_some(struct udp_endpoint *ue)
{
    for (unsigned i = 0; i < UDP_SAMPLES && !ue->alone; i++) {
        const uint16_t channel = ue->sample[i];
        const unsigned unused = unused_socket(ue);

        if (unused == UDP_SOCKETS)
            break;
        if (ue->de.ni.ep.channel[channel].state == UNET_OPEN &&
            samples_of(ue, channel) >= CONNECT_SHARE &&
            !place_has_socket(ue, &ue->de.link[channel].peer))
            peer_connect(ue, unused, channel);
    }
}

/* The first epoch is short: most programs have few peers, who are known by then. */
void unet_udp_end_epoch(struct udp_endpoint *ue)
{
    disconnect_some(ue);
    connect_some(ue);
    ue->samples = 0;
    ue->sample_sends = UDP_SAMPLE_SENDS;
}

/* ---- opening and closing ----------------------------------------------------------------- */

void unet_udp_allow_connected(struct udp_endpoint *ue)
{
    struct unet_endpoint *ep = &ue->de.ni.ep;

    if (!ep->config.polled) {
        ue->epoll = epoll_create1(EPOLL_CLOEXEC);
        if (ue->epoll < 0 || socket_watch(ue, ue->de.socket) != 0)
            return;
        ep->fd = ue->epoll;
    }
    ue->alone = false;
}

void unet_udp_close_connected(struct udp_endpoint *ue)
{
    for (unsigned i = 1; i < UDP_SOCKETS; i++)
        socket_close(&ue->socket[i]);
    if (ue->epoll >= 0)
        close(ue->epoll);
}
