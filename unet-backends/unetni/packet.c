/* SPDX-License-Identifier: BSD-3-Clause
 *
 * packet.c - the wire that is an Ethernet interface: a packet socket, whose arrivals the kernel
 * puts into a ring that it shares with us (TPACKET_V2), so that looking for them is a load.
 *
 *   kernel                                      we
 *   ------                                      --
 *   status == TP_STATUS_KERNEL: fill
 *   STORE.release(status, TP_STATUS_USER) (A)   LOAD.acquire(status) & TP_STATUS_USER (B)
 *                                               read
 *                                               STORE.release(status, TP_STATUS_KERNEL)
 *
 * Frames, ports and addresses are those of the backend eth: endpoints of both on one interface, of
 * one machine or several, reach each other, and share the machine's ports.
 */
#include "unetni/unetni.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    RING_BYTES = 8 << 20,
    BLOCK_LEAST = 64 << 10,
    SLOT_LEAST = 2048,
    SLOT_OVERHEAD = 128, /* of the kernel's headers in a slot, at least what it needs */
    SEND_BYTES = 4 << 20,
    RECEIVE_MOST = 256, /* frames taken in at a time */
    MAC_HIGH = 0,
    MAC_LOW = 4, /* of the destination, in an Ethernet header */
};

/* ---- places -------------------------------------------------------------------------------- */

static bool is_own(const struct unetni_wire *wire, const uint8_t mac[6])
{
    return memcmp(mac, wire->own, ETH_ALEN) == 0;
}

/* Who is at the loopback interface reaches itself alone. */
static bool packet_is_place(const struct unetni_wire *wire, const uint8_t mac[6])
{
    return !(mac[0] & 1) && (wire->index != wire->loopback || is_own(wire, mac));
}

/* An Ethernet does not hand an interface the frames that it sends to itself, so others at our own
 * address are reached through the loopback interface, with the same frames. */
static socklen_t packet_address(const struct unetni_wire *wire, const uint8_t mac[6],
                                union unetni_place *place)
{
    place->packet = (struct sockaddr_ll){
        .sll_family = AF_PACKET,
        .sll_protocol = htons(UNET_ETHERTYPE),
        .sll_ifindex = is_own(wire, mac) ? wire->loopback : wire->index,
        .sll_halen = ETH_ALEN,
    };
    memcpy(place->packet.sll_addr, mac, ETH_ALEN);
    return sizeof place->packet;
}

/* ---- ports ------------------------------------------------------------------------------------
 */

/* A port belongs to whoever has bound a Unix socket to this name, which is that of the backend eth:
 * the kernel takes it back however a process ends. */
static socklen_t port_name(const uint8_t mac[6], uint16_t port, struct sockaddr_un *name)
{
    int length;

    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1,
                      "unet-eth/%02x%02x%02x%02x%02x%02x/%u", mac[0], mac[1], mac[2], mac[3],
                      mac[4], mac[5], port);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int packet_take_port(const struct unetni_wire *wire, uint16_t port, int *lock)
{
    struct sockaddr_un name;
    const socklen_t length = port_name(wire->own, port, &name);
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
    const socklen_t length = port_name(wire->own, port, &name);
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

/* ---- receiving --------------------------------------------------------------------------------
 */

static struct tpacket2_hdr *slot_at(const struct unetni_wire *wire, uint32_t n)
{
    return (struct tpacket2_hdr *)(wire->ring + (size_t)(n & (wire->slots - 1)) * wire->slot_bytes);
}

/* The loopback interface puts its own address into frames; who reaches us through it has the same
 * as we. */
static void take(struct unetni_service *s, const struct tpacket2_hdr *slot)
{
    const uint8_t *bytes = (const uint8_t *)slot;
    const struct sockaddr_ll *sender =
        (const struct sockaddr_ll *)(bytes + TPACKET_ALIGN(sizeof *slot));
    const bool local = sender->sll_ifindex == s->wire.loopback;

    if (slot->tp_snaplen < slot->tp_len)
        s->malformed++;
    else
        unetni_receive(s, bytes + slot->tp_net, slot->tp_snaplen,
                       local ? s->wire.own : sender->sll_addr);
}

static unsigned packet_receive(struct unetni_service *s)
{
    struct unetni_wire *wire = &s->wire;
    unsigned count = 0;

    for (; count < RECEIVE_MOST; count++) {
        struct tpacket2_hdr *slot = slot_at(wire, wire->next);

        if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) /* B */
            break;
        take(s, slot);
        __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        wire->next++;
    }
    return count;
}

/* ---- opening ------------------------------------------------------------------------------------
 */

static int look_at_interface(struct unetni_wire *wire)
{
    struct ifreq request;
    int error = unetni_wire_interface(wire, SIOCGIFINDEX, &request);

    if (error)
        return error;
    wire->index = request.ifr_ifindex;
    wire->loopback = (int)if_nametoindex("lo");
    error = unetni_wire_interface(wire, SIOCGIFHWADDR, &request);
    if (error)
        return error;
    memcpy(wire->own, request.ifr_hwaddr.sa_data, ETH_ALEN);
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

/* Accepts frames to our address, to ports of packet sockets, that came from outside or by the
 * loopback interface, and of no VLAN: those have interfaces of their own.  Numbers in frames are
 * little-endian, so a port's high bit is in its second byte. */
static int set_filter(const struct unetni_wire *wire)
{
    const uint8_t *mac = wire->own;
    const uint32_t high =
        (uint32_t)mac[0] << 24 | (uint32_t)mac[1] << 16 | (uint32_t)mac[2] << 8 | (uint32_t)mac[3];
    const uint32_t low = (uint32_t)mac[4] << 8 | mac[5];
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_IFINDEX)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)wire->index, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)wire->loopback, 0, 9),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_VLAN_TAG_PRESENT)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)(SKF_LL_OFF + MAC_HIGH)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, high, 0, 5),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, (uint32_t)(SKF_LL_OFF + MAC_LOW)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, low, 0, 3),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, offsetof(struct unet_frame, to_port) + 1),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, UNET_FRAME_SOCKET_PORTS >> 8, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};

    if (setsockopt(wire->socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) < 0)
        return unetni_wire_fail(wire, "cannot filter frames");
    return 0;
}

static uint32_t power_of_two(uint32_t least, uint32_t n)
{
    while (least < n)
        least *= 2;
    return least;
}

static int open_ring(struct unetni_wire *wire)
{
    const uint32_t frame = wire->message_most + (uint32_t)sizeof(struct unet_frame);
    const uint32_t slot = power_of_two(SLOT_LEAST, frame + SLOT_OVERHEAD);
    const uint32_t block = power_of_two(BLOCK_LEAST, slot);
    const struct tpacket_req request = {
        .tp_block_size = block,
        .tp_block_nr = RING_BYTES / block,
        .tp_frame_size = slot,
        .tp_frame_nr = RING_BYTES / slot,
    };
    const int version = TPACKET_V2;
    void *ring;

    if (setsockopt(wire->socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 ||
        setsockopt(wire->socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0)
        return unetni_wire_fail(wire, "cannot make a ring for arrivals");
    ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, wire->socket, 0);
    if (ring == MAP_FAILED)
        return unetni_wire_fail(wire, "cannot map the ring of arrivals");
    wire->ring = ring;
    wire->slot_bytes = slot;
    wire->slots = RING_BYTES / slot;
    return 0;
}

/* Frames go straight to the device.  Not needed to work. */
static void set_options(int socket)
{
    const int on = 1, bytes = SEND_BYTES;

    setsockopt(socket, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
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
    set_options(wire->socket);
    if (bind(wire->socket, (const struct sockaddr *)&any, sizeof any) < 0)
        return unetni_wire_fail(wire, "cannot listen for frames");
    return 0;
}

static void packet_close(struct unetni_wire *wire)
{
    if (wire->ring)
        munmap(wire->ring, RING_BYTES);
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
    .nobody_has = packet_nobody_has,
    .receive = packet_receive,
};
