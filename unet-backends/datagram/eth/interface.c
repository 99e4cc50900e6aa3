/* SPDX-License-Identifier: BSD-3-Clause
 *
 * interface.c - the network interface, ports, and the socket there.
 *
 * An Ethernet does not hand an interface the frames that it sends to itself, so endpoints of our
 * own interface are reached through the machine's loopback interface, with the same frames.
 *
 * The socket that has the name of a port also tells whether a peer on this machine is alive.
 */
#include "datagram/eth/eth.h"

#include "core/local.h"

#include <errno.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    PORT_FIRST = UNET_FRAME_SOCKET_PORTS,
    PORTS = 65536 - PORT_FIRST,
    BUFFER_BYTES = 4 << 20, /* of what waits to go; the kernel may grant less */
};

/* ---- ports ------------------------------------------------------------ */

static int eth_take_port(struct eth_endpoint *ge)
{
    uint16_t first;

    ge->lock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (ge->lock < 0)
        return -errno;
    if (getrandom(&first, sizeof first, 0) != sizeof first)
        return -EIO;
    for (uint32_t i = 0; i < PORTS; i++) {
        const uint16_t port = (uint16_t)(PORT_FIRST + (first + i) % PORTS);
        struct sockaddr_un name;
        const socklen_t length = unet_packet_port_name(ge->own.mac, port, &name);

        if (bind(ge->lock, (struct sockaddr *)&name, length) == 0) {
            ge->own.port = port;
            return 0;
        }
        if (errno != EADDRINUSE)
            return -errno;
    }
    return -EADDRINUSE;
}

/* ---- the interface -------------------------------------------------------------------------- */

static int interface_ioctl(int socket, unsigned long what, struct ifreq *request)
{
    return ioctl(socket, what, request) == 0 ? 0 : -errno;
}

static int eth_look_at_interface(struct eth_endpoint *ge)
{
    struct ifreq request = {0};
    int error = unet_local_interface(unet_local_wish("lo"), request.ifr_name);

    if (error)
        return error;
    strcpy(ge->de.ni.ep.interface, request.ifr_name);
    error = interface_ioctl(ge->de.socket, SIOCGIFINDEX, &request);
    if (error)
        return error;
    ge->interface.index = request.ifr_ifindex;
    error = interface_ioctl(ge->de.socket, SIOCGIFMTU, &request);
    if (error)
        return error;
    ge->mtu = (uint32_t)request.ifr_mtu;
    error = interface_ioctl(ge->de.socket, SIOCGIFHWADDR, &request);
    if (error)
        return error;
    memcpy(ge->own.mac, request.ifr_hwaddr.sa_data, ETH_ALEN);
    memcpy(ge->interface.mac, ge->own.mac, ETH_ALEN);
    ge->interface.loopback = (int)if_nametoindex("lo");
    return request.ifr_hwaddr.sa_family == ARPHRD_ETHER ||
                   request.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK
               ? 0
               : -EINVAL;
}

/* ---- the socket ------------------------------------------------------------------------------ */

/* Frames to our port.  Numbers in frames are little-endian, the filter reads big-endian ones. */
static int eth_filter_frames(const struct eth_endpoint *ge)
{
    const struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(struct unet_frame, to_port)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __builtin_bswap16(ge->own.port), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };

    return unet_packet_set_filter(ge->de.socket, &ge->interface, code, sizeof code / sizeof *code);
}

/* The kernel makes a program with file capabilities undumpable, and then other processes of its
 * user can neither map its memory (shm) nor debug it.  Tracing it still needs the same capability.
 */
static void open_to_own_user(void)
{
    if (getuid() == geteuid() && getgid() == getegid())
        prctl(PR_SET_DUMPABLE, 1);
}

int unet_eth_open_socket(struct eth_endpoint *ge)
{
    int error;

    /* Without a protocol nothing comes before it is bound. */
    ge->de.socket = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ge->de.socket < 0)
        return -errno;
    error = eth_look_at_interface(ge);
    if (error == 0)
        error = eth_take_port(ge);
    if (error)
        return error;
    open_to_own_user();
    ge->own.nonce = ge->de.nonce;
    unet_ni_set_address(&ge->de.ni, &ge->own, sizeof ge->own);
    unet_packet_set_options(ge->de.socket, BUFFER_BYTES);
    return eth_filter_frames(ge);
}

/* To no interface: the filter lets in two of them. */
int unet_eth_bind_socket(struct eth_endpoint *ge)
{
    const struct sockaddr_ll any = {.sll_family = AF_PACKET, .sll_protocol = htons(UNET_ETHERTYPE)};

    return bind(ge->de.socket, (const struct sockaddr *)&any, sizeof any) == 0 ? 0 : -errno;
}

/* ---- peers ------------------------------------------------------------ */

static bool eth_is_own(const struct eth_endpoint *ge, const uint8_t *mac)
{
    return memcmp(mac, ge->own.mac, ETH_ALEN) == 0;
}

static bool eth_is_of_this_machine(const struct eth_endpoint *ge, const uint8_t *mac)
{
    struct ifaddrs *all;
    bool found = eth_is_own(ge, mac);

    if (found || getifaddrs(&all) < 0)
        return found;
    for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        const struct sockaddr_ll *address = (const struct sockaddr_ll *)one->ifa_addr;

        found = address && address->sll_family == AF_PACKET && address->sll_halen == ETH_ALEN &&
                memcmp(address->sll_addr, mac, ETH_ALEN) == 0;
    }
    freeifaddrs(all);
    return found;
}

int unet_eth_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                     struct datagram_link *link, uint64_t *nonce)
{
    const struct eth_endpoint *ge = eth_of(de);
    struct eth_address peer;

    if (address->length != sizeof peer)
        return -EADDRNOTAVAIL;
    memcpy(&peer, address->bytes, sizeof peer);
    if (peer.port == 0 ||
        (ge->interface.index == ge->interface.loopback && !eth_is_own(ge, peer.mac)))
        return -EADDRNOTAVAIL;
    link->peer.length = sizeof link->peer.eth;
    link->peer.eth = (struct sockaddr_ll){
        .sll_family = AF_PACKET,
        .sll_protocol = htons(UNET_ETHERTYPE),
        .sll_ifindex = eth_is_own(ge, peer.mac) ? ge->interface.loopback : ge->interface.index,
        .sll_halen = ETH_ALEN,
    };
    memcpy(link->peer.eth.sll_addr, peer.mac, ETH_ALEN);
    link->peer_port = peer.port;
    link->here = eth_is_of_this_machine(ge, peer.mac);
    *nonce = peer.nonce;
    return 0;
}

bool unet_eth_is_there(const struct eth_endpoint *ge, const struct datagram_link *link)
{
    struct sockaddr_un name;
    socklen_t length;

    if (!link->here)
        return true;
    length = unet_packet_port_name(link->peer.eth.sll_addr, link->peer_port, &name);
    return connect(ge->lock, (struct sockaddr *)&name, length) == 0 || errno != ECONNREFUSED;
}
