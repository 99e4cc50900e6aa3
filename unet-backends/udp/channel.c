/* SPDX-License-Identifier: BSD-3-Clause
 *
 * channel.c - opening, closing, and noticing that a peer is gone.
 *
 * Each side tells the other that it has opened the channel, until it is told that the other has
 * done so, too.  Every opening has a random number of its own, its life, which the answer repeats:
 * datagrams of an earlier conversation under the same tag open nothing and close nothing.
 *
 *   a: UDP_OPEN life x  -->            (b has not opened: dropped)
 *   a: UDP_OPEN life x  -->  b: answers UDP_OPENED to x, from y
 *   a: is open, to y    <--             b in turn learns of x when a answers its UDP_OPEN
 *
 * A closed channel is told once.  If that gets lost, or the peer was killed, the
 * network answers the next datagram that nobody listens there.
 */
#include "udp/udp.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <string.h>
#include <sys/random.h>

enum {
    PAUSE_FIRST_US = 200,
    PAUSE_LAST_US = 50000,
    PROBE_US = 20000, /* between two questions whether a peer is alive */
};

/* ---- datagrams without a message ----------------------------------------------------- */

static void tell(struct udp_endpoint *ue, uint16_t n, enum udp_kind kind, uint16_t to,
                 uint32_t to_life)
{
    const struct udp_link *link = &ue->link[n];
    const struct udp_header header = {
        .magic = UDP_MAGIC,
        .version = UDP_VERSION,
        .kind = (uint8_t)kind,
        .to = to,
        .from = n,
        .key = link->key_out,
        .to_life = to_life,
        .from_life = link->life,
    };

    /* What does not go is told again, or found out. */
    sendto(ue->socket, &header, sizeof header, 0, &link->peer.any,
           unet_udp_sockaddr_length(&link->peer));
}

/* ---- states ---------------------------------------------------------------------------- */

static void set_state(struct udp_endpoint *ue, uint16_t n, enum unet_channel_state state)
{
    struct unet_channel *channel = &ue->ep.channel[n];

    if (channel->state == UNET_CONNECTING)
        ue->connecting--;
    if (state == UNET_CONNECTING)
        ue->connecting++;
    if (state == UNET_OPEN || state == UNET_DEAD)
        ue->changes++;
    channel->state = (uint8_t)state;
    channel->ring = state == UNET_OPEN ? &ue->ep.tx : &ue->full;
}

static void peer_is_open(struct udp_endpoint *ue, uint16_t n, const struct udp_header *header)
{
    struct udp_link *link = &ue->link[n];

    if (ue->ep.channel[n].state != UNET_CONNECTING || header->to_life != link->life)
        return;
    link->number = header->from;
    link->peer_life = header->from_life;
    set_state(ue, n, UNET_OPEN);
}

static void peer_is_gone(struct udp_endpoint *ue, uint16_t n)
{
    if (ue->ep.channel[n].state == UNET_OPEN)
        set_state(ue, n, UNET_DEAD);
}

/* The channel whose peer says that key, from where it ought to; 0: none. */
static uint16_t find(const struct udp_endpoint *ue, uint64_t key, const union udp_sockaddr *from)
{
    for (uint32_t n = 1; n < ue->ep.rx_rings; n++) {
        if (ue->ep.channel[n].state != UNET_CLOSED && ue->link[n].key_in == key &&
            unet_udp_same(&ue->link[n].peer, from))
            return (uint16_t)n;
    }
    return 0;
}

void unet_udp_control(struct udp_endpoint *ue, const struct udp_header *header,
                      const union udp_sockaddr *from)
{
    const uint16_t n = find(ue, header->key, from);

    if (n == 0) {
        ue->ep.stats.foreign++;
        return;
    }
    switch (header->kind) {
    case UDP_OPEN:
        tell(ue, n, UDP_OPENED, header->from, header->from_life);
        break;
    case UDP_OPENED:
        peer_is_open(ue, n, header);
        break;
    case UDP_CLOSE:
        if (ue->link[n].peer_life == header->from_life)
            peer_is_gone(ue, n);
        break;
    }
}

void unet_udp_tell(struct udp_endpoint *ue)
{
    const uint64_t now = unet_now_us();

    for (uint32_t n = 1; n < ue->ep.rx_rings; n++) {
        struct udp_link *link = &ue->link[n];

        if (ue->ep.channel[n].state != UNET_CONNECTING || now < link->next_open_us)
            continue;
        tell(ue, (uint16_t)n, UDP_OPEN, 0, 0);
        link->next_open_us = now + link->pause_us;
        if (link->pause_us < PAUSE_LAST_US)
            link->pause_us *= 2;
    }
}

/* ---- what the network says ------------------------------------------------------------- */

/* Nobody listens at that address, or there is no way to it. */
static void unreachable(struct udp_endpoint *ue, const union udp_sockaddr *where)
{
    for (uint32_t n = 1; n < ue->ep.rx_rings; n++) {
        if (unet_udp_same(&ue->link[n].peer, where))
            peer_is_gone(ue, (uint16_t)n);
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

void unet_udp_read_errors(struct udp_endpoint *ue)
{
    for (;;) {
        union udp_sockaddr where;
        uint8_t control[512], byte;
        struct iovec iov = {&byte, sizeof byte};
        struct msghdr message = {.msg_name = &where,
                                 .msg_namelen = sizeof where,
                                 .msg_iov = &iov,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};

        if (recvmsg(ue->socket, &message, MSG_ERRQUEUE) < 0)
            break;
        if (says_refused(&message))
            unreachable(ue, &where);
    }
}

void unet_udp_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct udp_endpoint *ue = udp_of(ep);
    const uint64_t now = unet_now_us();

    for (uint32_t n = channel ? channel : 1; n < (channel ? channel + 1u : ep->rx_rings); n++) {
        struct udp_link *link = &ue->link[n];

        if (ep->channel[n].state != UNET_OPEN || now - link->probed_us < PROBE_US)
            continue;
        link->probed_us = now;
        tell(ue, (uint16_t)n, UDP_ALIVE, link->number, link->peer_life);
    }
    unet_udp_tell(ue);
    unet_udp_receive(ue);
    unet_udp_read_errors(ue);
}

/* ---- opening and closing ---------------------------------------------------------------- */

static bool is_open_already(const struct udp_endpoint *ue, const struct udp_link *link)
{
    for (uint32_t n = 1; n < ue->ep.rx_rings; n++) {
        if (ue->ep.channel[n].state != UNET_CLOSED && ue->link[n].key_out == link->key_out)
            return true;
    }
    return false;
}

static uint16_t closed_channel(const struct udp_endpoint *ue)
{
    for (uint32_t n = 1; n <= ue->ep.config.channels; n++) {
        if (ue->ep.channel[n].state == UNET_CLOSED)
            return (uint16_t)n;
    }
    return 0;
}

int unet_udp_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                     uint16_t *channel)
{
    struct udp_endpoint *ue = udp_of(ep);
    struct udp_link link = {.pause_us = PAUSE_FIRST_US};
    struct udp_address address;
    uint16_t n;
    int error = unet_udp_resolve(ue, peer, &address);

    if (error)
        return error;
    unet_udp_sockaddr(&address, &link.peer);
    link.key_in = unet_direction_key(tag, address.nonce, ue->own.nonce);
    link.key_out = unet_direction_key(tag, ue->own.nonce, address.nonce);
    if (is_open_already(ue, &link))
        return -EEXIST;
    if (getrandom(&link.life, sizeof link.life, 0) != sizeof link.life)
        return -EIO;
    n = closed_channel(ue);
    if (n == 0)
        return -ENOSPC;
    link.in = ue->link[n].in;
    ue->link[n] = link;
    if (n >= ep->rx_rings)
        ep->rx_rings = n + 1u;
    set_state(ue, n, UNET_CONNECTING);
    unet_udp_tell(ue);
    *channel = n;
    return 0;
}

void unet_udp_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct udp_endpoint *ue = udp_of(ep);

    unet_udp_service(ue);
    if (ep->channel[channel].state == UNET_OPEN)
        tell(ue, channel, UDP_CLOSE, ue->link[channel].number, ue->link[channel].peer_life);
    set_state(ue, channel, UNET_CLOSED);
    unet_udp_service(ue); /* completes what the socket did not take */
    unet_drop_unread(&ep->rx[channel]);
}
