/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.c - the wire that is a UDP socket, at the interface's IPv4 address: for networks that are no
 * Ethernet, or lie behind a router, and for who may not open packet sockets.
 *
 * A datagram is one frame.  A place is the address and the port of a service's socket, which stand
 * where an Ethernet address would; so the service answers for all ports of its endpoints.
 */
#include "unetni/unetni.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    RECEIVE_MOST = 64, /* datagrams taken in at a time */
    BUFFER_BYTES = 4 << 20,
    IP_BYTES = 28, /* of the headers of IPv4 and UDP */
};

/* What recvmmsg wants, and the bytes behind it. */
struct arrivals {
    struct mmsghdr message[RECEIVE_MOST];
    struct sockaddr_in from[RECEIVE_MOST];
    struct iovec iov[RECEIVE_MOST];
    uint8_t bytes[RECEIVE_MOST][sizeof(struct unet_frame) + UNETNI_MESSAGE_MOST];
};

/* ---- places -------------------------------------------------------------------------------- */

static void place_of(const struct sockaddr_in *address, uint8_t mac[6])
{
    memcpy(mac, &address->sin_addr, 4);
    memcpy(mac + 4, &address->sin_port, 2);
}

static socklen_t udp_address(const struct unetni_wire *wire, const uint8_t mac[6],
                             union unetni_place *place)
{
    (void)wire;
    place->udp = (struct sockaddr_in){.sin_family = AF_INET};
    memcpy(&place->udp.sin_addr, mac, 4);
    memcpy(&place->udp.sin_port, mac + 4, 2);
    return sizeof place->udp;
}

/* No group, no broadcast, and nobody's. */
static bool udp_is_place(const struct unetni_wire *wire, const uint8_t mac[6])
{
    (void)wire;
    return mac[0] != 0 && mac[0] < 224 && (mac[4] | mac[5]) != 0;
}

/* ---- receiving ---------------------------------------------------------------------------- */

static unsigned udp_receive(struct unetni_service *s)
{
    struct arrivals *a = s->wire.arrivals;
    const int n = recvmmsg(s->wire.socket, a->message, RECEIVE_MOST, MSG_DONTWAIT, NULL);

    for (int i = 0; i < n; i++) {
        uint8_t mac[6];

        place_of(&a->from[i], mac);
        if (a->message[i].msg_hdr.msg_flags & MSG_TRUNC)
            s->malformed++;
        else
            unetni_receive(s, a->bytes[i], a->message[i].msg_len, mac);
        a->message[i].msg_hdr.msg_namelen = sizeof a->from[i];
    }
    return n > 0 ? (unsigned)n : 0;
}

static int make_arrivals(struct unetni_wire *wire)
{
    struct arrivals *a = calloc(1, sizeof *a);

    if (!a)
        return unetni_wire_fail(wire, "no memory for arrivals");
    for (unsigned i = 0; i < RECEIVE_MOST; i++) {
        a->iov[i] = (struct iovec){a->bytes[i], sizeof a->bytes[i]};
        a->message[i].msg_hdr = (struct msghdr){.msg_name = &a->from[i],
                                                .msg_namelen = sizeof a->from[i],
                                                .msg_iov = &a->iov[i],
                                                .msg_iovlen = 1};
    }
    wire->arrivals = a;
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int bind_socket(struct unetni_wire *wire)
{
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    struct ifreq request;
    int error = unetni_wire_interface(wire, SIOCGIFADDR, &request);

    if (error)
        return error;
    memcpy(&at, &request.ifr_addr, sizeof at);
    at.sin_port = 0;
    if (bind(wire->socket, (struct sockaddr *)&at, sizeof at) < 0 ||
        getsockname(wire->socket, (struct sockaddr *)&at, &length) < 0)
        return unetni_wire_fail(wire, "cannot listen at its IPv4 address");
    place_of(&at, wire->own);
    return 0;
}

static void set_options(int socket)
{
    const int bytes = BUFFER_BYTES;

    if (setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

static int udp_open(struct unetni_wire *wire)
{
    struct ifreq request;
    int error;

    wire->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wire->socket < 0)
        return unetni_wire_fail(wire, "cannot open a UDP socket");
    error = bind_socket(wire);
    if (error == 0)
        error = unetni_wire_interface(wire, SIOCGIFMTU, &request);
    if (error)
        return error;
    wire->message_most = unetni_wire_message_most(
        wire, request.ifr_mtu > IP_BYTES ? (uint32_t)request.ifr_mtu - IP_BYTES : 0);
    if (wire->message_most == 0)
        return -EMSGSIZE;
    set_options(wire->socket);
    return make_arrivals(wire);
}

static void udp_close(struct unetni_wire *wire)
{
    free(wire->arrivals);
    if (wire->socket >= 0)
        close(wire->socket);
}

const struct unetni_wire_ops unetni_udp_wire = {
    .name = "udp",
    .open = udp_open,
    .close = udp_close,
    .is_place = udp_is_place,
    .address = udp_address,
    .take_port = unetni_wire_take_port,
    .give_port = unetni_wire_give_port,
    .nobody_has = unetni_wire_nobody_has,
    .send = unetni_wire_send,
    .receive = udp_receive,
};
