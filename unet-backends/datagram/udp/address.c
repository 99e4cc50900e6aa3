/* SPDX-License-Identifier: BSD-3-Clause
 *
 * address.c - where an endpoint is, and the socket there.
 */
#include "datagram/udp/udp.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum {
    BUFFER_BYTES = 4 << 20, /* of the socket, each way; the kernel may grant less */
    MTU_LEAST = 1280,       /* what every IPv6 link has, when no more is known */
    HEADERS_IP4 = 20 + 8,
    HEADERS_IP6 = 40 + 8,
};

static bool is_link_local(const struct datagram_place *place)
{
    return place->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&place->ip6.sin6_addr);
}

/* `scope` is that of the interface by which we get there. */
static void udp_place(const struct udp_address *address, uint32_t scope,
                      struct datagram_place *place)
{
    memset(place, 0, sizeof *place);
    place->any.sa_family = address->family;
    if (address->family == AF_INET) {
        place->length = sizeof place->ip4;
        place->ip4.sin_port = address->port;
        memcpy(&place->ip4.sin_addr, address->ip, sizeof place->ip4.sin_addr);
    } else {
        place->length = sizeof place->ip6;
        place->ip6.sin6_port = address->port;
        memcpy(&place->ip6.sin6_addr, address->ip, sizeof place->ip6.sin6_addr);
        place->ip6.sin6_scope_id = is_link_local(place) ? scope : 0;
    }
}

static void udp_address_of(const union unet_sockaddr *from, struct udp_address *address)
{
    address->family = from->any.sa_family;
    if (from->any.sa_family == AF_INET) {
        address->port = from->ip4.sin_port;
        memcpy(address->ip, &from->ip4.sin_addr, sizeof from->ip4.sin_addr);
    } else {
        address->port = from->ip6.sin6_port;
        address->scope = from->ip6.sin6_scope_id;
        memcpy(address->ip, &from->ip6.sin6_addr, sizeof from->ip6.sin6_addr);
    }
}

/* Errors of the network come by a queue of their own.  Over IPv4, routers may fragment our packets
 * where a path takes less than it did: the kernel's own path MTU discovery needs ICMP messages,
 * which firewalls keep back.  Over IPv6 routers never fragment.  Where packets queue, they may be
 * marked instead of dropped (RFC 3168). */
static void set_family_options(int fd, int family)
{
    const int on = 1, may_be_cut = IP_PMTUDISC_DONT, may_be_marked = IPTOS_ECN_ECT0;

    if (family == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &may_be_marked, sizeof may_be_marked);
        return;
    }
    setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &may_be_cut, sizeof may_be_cut);
    setsockopt(fd, IPPROTO_IP, IP_TOS, &may_be_marked, sizeof may_be_marked);
}

/* And buffers are large, and datagrams may come joined.  None of it is needed to work. */
static void udp_set_options(int fd, int family)
{
    const int bytes = BUFFER_BYTES, on = 1;

    set_family_options(fd, family);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on);
}

int unet_udp_socket(int family)
{
    const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    udp_set_options(fd, family);
    return fd;
}

static int udp_bind_socket(struct datagram_endpoint *de, const union unet_sockaddr *local)
{
    const int fd = unet_udp_socket(local->any.sa_family);

    if (fd < 0)
        return fd;
    de->socket = fd;
    return bind(de->socket, &local->any, sizeof *local) == 0 ? 0 : -errno;
}

int unet_udp_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                     struct datagram_link *link, uint64_t *nonce)
{
    const struct udp_address *own = &udp_of(de)->own;
    struct udp_address peer;

    if (address->length != sizeof peer)
        return -EADDRNOTAVAIL;
    memcpy(&peer, address->bytes, sizeof peer);
    if (peer.family != own->family || peer.port == 0)
        return -EADDRNOTAVAIL;
    udp_place(&peer, own->scope, &link->peer);
    *nonce = peer.nonce;
    return 0;
}

/* ---- packets --------------------------------------------------------------------- */

/* Of the interface that has our address. */
static int own_mtu(const struct udp_endpoint *ue, const union unet_sockaddr *local)
{
    struct ifreq request = {0};
    const struct ifaddrs *owner;
    struct ifaddrs *all;

    if (getifaddrs(&all) < 0)
        return MTU_LEAST;
    owner = unet_local_owner(all, local);
    if (owner)
        strncpy(request.ifr_name, owner->ifa_name, sizeof request.ifr_name - 1);
    freeifaddrs(all);
    return owner && ioctl(ue->de.socket, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : MTU_LEAST;
}

static uint32_t datagram_most(const struct udp_endpoint *ue, const union unet_sockaddr *local)
{
    const int headers = ue->own.family == AF_INET ? HEADERS_IP4 : HEADERS_IP6;
    const int payload = own_mtu(ue, local) - headers;

    return (uint32_t)(payload < UDP_PAYLOAD_MAX ? payload : UDP_PAYLOAD_MAX);
}

/* ---- opening --------------------------------------------------------------------- */

int unet_udp_open_socket(struct udp_endpoint *ue)
{
    union unet_sockaddr local;
    socklen_t length = sizeof local;
    int error = unet_local(unet_local_wish("127.0.0.1"), &local);

    if (error == 0)
        error = udp_bind_socket(&ue->de, &local);
    if (error)
        return error;
    if (getsockname(ue->de.socket, &local.any, &length) < 0)
        return -errno;
    udp_address_of(&local, &ue->own);
    ue->own.nonce = ue->de.nonce;
    unet_ni_set_address(&ue->de.ni, &ue->own, sizeof ue->own);
    ue->datagram_most = datagram_most(ue, &local);
    return 0;
}
