/* SPDX-License-Identifier: BSD-3-Clause
 *
 * address.c - where an endpoint is, and the socket there.
 */
#include "udp/local.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 4 << 20, /* of the socket, each way; the kernel may grant less */
    MTU_LEAST = 1280,       /* what every IPv6 link has, when no more is known */
    HEADERS_IP4 = 20 + 8,
    HEADERS_IP6 = 40 + 8,
};

void unet_udp_sockaddr(const struct udp_address *address, union udp_sockaddr *to)
{
    memset(to, 0, sizeof *to);
    to->any.sa_family = address->family;
    if (address->family == AF_INET) {
        to->ip4.sin_port = address->port;
        memcpy(&to->ip4.sin_addr, address->ip, sizeof to->ip4.sin_addr);
    } else {
        to->ip6.sin6_port = address->port;
        to->ip6.sin6_scope_id = address->scope;
        memcpy(&to->ip6.sin6_addr, address->ip, sizeof to->ip6.sin6_addr);
    }
}

static void from_sockaddr(const union udp_sockaddr *from, struct udp_address *address)
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

socklen_t unet_udp_sockaddr_length(const union udp_sockaddr *address)
{
    return address->any.sa_family == AF_INET ? sizeof address->ip4 : sizeof address->ip6;
}

bool unet_udp_same(const union udp_sockaddr *a, const union udp_sockaddr *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->ip4.sin_port == b->ip4.sin_port &&
               a->ip4.sin_addr.s_addr == b->ip4.sin_addr.s_addr;
    return a->ip6.sin6_port == b->ip6.sin6_port &&
           memcmp(&a->ip6.sin6_addr, &b->ip6.sin6_addr, sizeof a->ip6.sin6_addr) == 0;
}

/* Errors of the network come by a queue of their own, packets are never cut, buffers are
 * large.  None of it is needed to work. */
static void set_options(int fd, int family)
{
    const int on = 1, bytes = BUFFER_BYTES;

    if (family == AF_INET)
        setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    else
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

static int open_socket(struct udp_endpoint *ue, const union udp_sockaddr *local)
{
    ue->socket = socket(local->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (ue->socket < 0)
        return -errno;
    set_options(ue->socket, local->any.sa_family);
    return bind(ue->socket, &local->any, unet_udp_sockaddr_length(local)) == 0 ? 0 : -errno;
}

int unet_udp_bind(struct udp_endpoint *ue)
{
    const char *wish = getenv("UNET_UDP_ADDRESS");
    union udp_sockaddr local;
    socklen_t length = sizeof local;
    int error = unet_udp_local(wish ? wish : "127.0.0.1", &local);

    if (error == 0)
        error = open_socket(ue, &local);
    if (error)
        return error;
    if (getsockname(ue->socket, &local.any, &length) < 0)
        return -errno;
    from_sockaddr(&local, &ue->own);
    if (getrandom(&ue->own.nonce, sizeof ue->own.nonce, 0) != sizeof ue->own.nonce)
        return -EIO;
    return 0;
}

int unet_udp_resolve(const struct udp_endpoint *ue, const struct unet_address *address,
                     struct udp_address *peer)
{
    if (address->length != sizeof *peer)
        return -EADDRNOTAVAIL;
    memcpy(peer, address->bytes, sizeof *peer);
    return peer->family == ue->own.family && peer->port != 0 ? 0 : -EADDRNOTAVAIL;
}

/* ---- packets --------------------------------------------------------------------- */

static bool is_own(const struct udp_endpoint *ue, const struct sockaddr *address)
{
    union udp_sockaddr own, other;

    if (!address || address->sa_family != ue->own.family)
        return false;
    memset(&other, 0, sizeof other);
    unet_udp_sockaddr(&ue->own, &own);
    memcpy(&other, address, unet_udp_sockaddr_length(&own));
    if (ue->own.family == AF_INET)
        other.ip4.sin_port = own.ip4.sin_port;
    else
        other.ip6.sin6_port = own.ip6.sin6_port;
    return unet_udp_same(&own, &other);
}

static int mtu_of(const struct udp_endpoint *ue, const char *interface)
{
    struct ifreq request = {0};

    strncpy(request.ifr_name, interface, sizeof request.ifr_name - 1);
    return ioctl(ue->socket, SIOCGIFMTU, &request) == 0 ? request.ifr_mtu : MTU_LEAST;
}

/* Of the interface that has our address. */
static int own_mtu(const struct udp_endpoint *ue)
{
    struct ifaddrs *all;
    int mtu = MTU_LEAST;

    if (getifaddrs(&all) < 0)
        return mtu;
    for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
        if (is_own(ue, one->ifa_addr)) {
            mtu = mtu_of(ue, one->ifa_name);
            break;
        }
    }
    freeifaddrs(all);
    return mtu;
}

uint32_t unet_udp_packet_bytes(const struct udp_endpoint *ue)
{
    const int headers = ue->own.family == AF_INET ? HEADERS_IP4 : HEADERS_IP6;
    const int payload = own_mtu(ue) - headers;

    return (uint32_t)(payload < (int)UDP_PAYLOAD_MAX ? payload : (int)UDP_PAYLOAD_MAX) -
           (uint32_t)sizeof(struct udp_header);
}
