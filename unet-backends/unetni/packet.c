/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packet.c - the wire that is an Ethernet interface: a packet socket, whose arrivals lie in a ring.
 *
 * Frames, ports and addresses are those of the backend eth: endpoints of both on one interface, of
 * one machine or several, reach each other, and share the machine's ports.
 */
#include "unetni/unetni.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    RING_BYTES = 8 << 20,
    SEND_BYTES = 4 << 20,
    RECEIVE_MOST = 256, /* frames taken in at a time */
};

/* ---- places -------------------------------------------------------------------------------- */

static bool is_own(const struct unetni_wire *wire, const uint8_t mac[6])
{
    return memcmp(mac, wire->own, ETH_ALEN) == 0;
}

/* Who is at the loopback interface reaches itself alone. */
static bool packet_is_place(const struct unetni_wire *wire, const uint8_t mac[6])
{
    return !(mac[0] & 1) && (wire->at.index != wire->at.loopback || is_own(wire, mac));
}

/* An Ethernet does not hand an interface the frames that it sends to itself, so others at our own
 * address are reached through the loopback interface, with the same frames. */
static socklen_t packet_address(const struct unetni_wire *wire, const uint8_t mac[6],
                                union unetni_place *place)
{
    place->packet = (struct sockaddr_ll){
        .sll_family = AF_PACKET,
        .sll_protocol = htons(UNET_ETHERTYPE),
        .sll_ifindex = is_own(wire, mac) ? wire->at.loopback : wire->at.index,
        .sll_halen = ETH_ALEN,
    };
    memcpy(place->packet.sll_addr, mac, ETH_ALEN);
    return sizeof place->packet;
}

/* ---- ports -------------------------------------------------------------------------------- */

static int packet_take_port(const struct unetni_wire *wire, uint16_t port, int *lock)
{
    struct sockaddr_un name;
    const socklen_t length = unet_packet_port_name(wire->own, port, &name);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&name, length) < 0) {
        const int error = -errno;

        close(fd);
        return error;
    }
    *lock = fd;
    return 0;
}

/* Ports below are the kernel module's, which answers itself. */
static bool packet_nobody_has(const struct unetni_wire *wire, uint16_t port)
{
    struct sockaddr_un name;
    const socklen_t length = unet_packet_port_name(wire->own, port, &name);
    int fd;
    bool nobody;

    if (port < UNET_FRAME_SOCKET_PORTS)
        return false;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    nobody = connect(fd, (struct sockaddr *)&name, length) < 0 && errno == ECONNREFUSED;
    close(fd);
    return nobody;
}

/* ---- receiving ---------------------------------------------------------------------------- */

/* The loopback interface puts its own address into frames; who reaches us through it has the same
 * as we. */
static void take(struct unetni_service *s, const struct tpacket2_hdr *slot)
{
    const uint8_t *bytes = (const uint8_t *)slot;
    const struct sockaddr_ll *sender =
        (const struct sockaddr_ll *)(bytes + TPACKET_ALIGN(sizeof *slot));
    const bool local = sender->sll_ifindex == s->wire.at.loopback;

    if (slot->tp_snaplen < slot->tp_len)
        s->malformed++;
    else
        unetni_receive(s, bytes + slot->tp_net, slot->tp_snaplen,
                       local ? s->wire.own : sender->sll_addr);
}

static unsigned packet_receive(struct unetni_service *s)
{
    struct unet_packet_ring *ring = &s->wire.ring;
    struct tpacket2_hdr *slot;
    unsigned count = 0;

    for (; count < RECEIVE_MOST && (slot = unet_packet_ring_peek(ring)) != NULL; count++) {
        take(s, slot);
        unet_packet_ring_release(ring, slot);
    }
    return count;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int packet_fail(const struct unetni_wire *wire, int error, const char *what)
{
    errno = -error;
    return unetni_wire_fail(wire, what);
}

static int look_at_interface(struct unetni_wire *wire)
{
    struct ifreq request;
    int error = unetni_wire_interface(wire, SIOCGIFINDEX, &request);

    if (error)
        return error;
    wire->at.index = request.ifr_ifindex;
    wire->at.loopback = (int)if_nametoindex("lo");
    error = unetni_wire_interface(wire, SIOCGIFHWADDR, &request);
    if (error)
        return error;
    memcpy(wire->own, request.ifr_hwaddr.sa_data, ETH_ALEN);
    memcpy(wire->at.mac, wire->own, ETH_ALEN);
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER &&
        request.ifr_hwaddr.sa_family != ARPHRD_LOOPBACK) {
        errno = EINVAL;
        return unetni_wire_fail(wire, "is no Ethernet (--wire udp goes over any network)");
    }
    error = unetni_wire_interface(wire, SIOCGIFMTU, &request);
    if (error)
        return error;
    wire->message_most = unetni_wire_message_most(wire, (uint32_t)request.ifr_mtu);
    return wire->message_most > 0 ? 0 : -EMSGSIZE;
}

/* Accepts frames to ports of packet sockets.  Numbers in frames are little-endian, so a port's high
 * bit is in its second byte. */
static int set_filter(const struct unetni_wire *wire)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct unet_frame, to_port) + 1),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, UNET_FRAME_SOCKET_PORTS >> 8, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const int error =
        unet_packet_set_filter(wire->socket, &wire->at, code, sizeof code / sizeof *code);

    return error ? packet_fail(wire, error, "cannot filter frames") : 0;
}

static int open_ring(struct unetni_wire *wire)
{
    const uint32_t frame = wire->message_most + (uint32_t)sizeof(struct unet_frame);
    const int error = unet_packet_ring_open(&wire->ring, wire->socket, RING_BYTES, frame);

    return error ? packet_fail(wire, error, "cannot make a ring for arrivals") : 0;
}

/* Bound to no interface: the filter lets in two of them. */
static int packet_open(struct unetni_wire *wire)
{
    const struct sockaddr_ll any = {.sll_family = AF_PACKET, .sll_protocol = htons(UNET_ETHERTYPE)};
    int error;

    wire->socket = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (wire->socket < 0)
        return unetni_wire_fail(wire, "raw Ethernet needs CAP_NET_RAW");
    error = look_at_interface(wire);
    if (error == 0)
        error = set_filter(wire);
    if (error == 0)
        error = open_ring(wire);
    if (error)
        return error;
    unet_packet_set_options(wire->socket, SEND_BYTES);
    if (bind(wire->socket, (const struct sockaddr *)&any, sizeof any) < 0)
        return unetni_wire_fail(wire, "cannot listen for frames");
    return 0;
}

static void packet_close(struct unetni_wire *wire)
{
    unet_packet_ring_close(&wire->ring);
    if (wire->socket >= 0)
        close(wire->socket);
}

const struct unetni_wire_ops unetni_packet_wire = {
    .name = "packet",
    .open = packet_open,
    .close = packet_close,
    .is_place = packet_is_place,
    .address = packet_address,
    .take_port = packet_take_port,
    .give_port = unetni_wire_give_port,
    .nobody_has = packet_nobody_has,
    .send = unetni_wire_send,
    .receive = packet_receive,
};
