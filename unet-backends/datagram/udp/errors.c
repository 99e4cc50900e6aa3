/* SPDX-License-Identifier: BSD-3-Clause
 *
 * errors.c - what the network reports about peers.
 */
#include "datagram/udp/udp.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <string.h>

enum {
    DOUBT_LEAST_US = 1000000, /* between two answers that a peer does not listen, to believe it */
    DOUBT_MOST_US = 60000000, /* after that the first one is forgotten */
};

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

void unet_udp_read_socket_errors(struct datagram_endpoint *de, int socket)
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

        if (recvmsg(socket, &message, MSG_ERRQUEUE) < 0)
            break;
        where.length = message.msg_namelen;
        if (says_refused(&message))
            udp_refused(de, &where);
    }
}

void unet_udp_read_errors(struct datagram_endpoint *de)
{
    const struct udp_endpoint *ue = udp_of(de);

    for (unsigned i = 0; i < UDP_SOCKETS; i++) {
        if (ue->socket[i].fd >= 0)
            unet_udp_read_socket_errors(de, ue->socket[i].fd);
    }
}
