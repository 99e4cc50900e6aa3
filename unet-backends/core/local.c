/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/local.h"

#include "core/core.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---------------------------------------------------------------------- */

/* "fe80::1%eth0": a link-local address says on which interface. */
static int parse_ip6(const char *text, struct sockaddr_in6 *ip6)
{
    const char *percent = strchr(text, '%');
    const size_t length = percent ? (size_t)(percent - text) : strlen(text);
    char address[INET6_ADDRSTRLEN];

    if (length >= sizeof address)
        return -EINVAL;
    memcpy(address, text, length);
    address[length] = '\0';
    ip6->sin6_family = AF_INET6;
    ip6->sin6_scope_id = percent ? if_nametoindex(percent + 1) : 0;
    if (inet_pton(AF_INET6, address, &ip6->sin6_addr) != 1 || (percent && !ip6->sin6_scope_id))
        return -EINVAL;
    return 0;
}

static int parse_address(const char *text, union unet_sockaddr *address)
{
    memset(address, 0, sizeof *address);
    address->ip4.sin_family = AF_INET;
    if (inet_pton(AF_INET, text, &address->ip4.sin_addr) == 1)
        return 0;
    memset(address, 0, sizeof *address);
    return parse_ip6(text, &address->ip6);
}

/* The address itself, without family and port. */
static const unsigned char *bytes_of(const union unet_sockaddr *address)
{
    return address->any.sa_family == AF_INET ? (const unsigned char *)&address->ip4.sin_addr
                                             : (const unsigned char *)&address->ip6.sin6_addr;
}

struct network {
    union unet_sockaddr address;
    unsigned bits; /* in common to all in it */
};

static int parse_network(const char *text, struct network *network)
{
    const char *slash = strchr(text, '/');
    char address[INET6_ADDRSTRLEN] = "", *end;
    const size_t length = (size_t)(slash - text);
    unsigned long bits;

    if (length >= sizeof address)
        return -EINVAL;
    memcpy(address, text, length);
    if (parse_address(address, &network->address) < 0)
        return -EINVAL;
    bits = strtoul(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || slash[1] == '-' || slash[1] == '+' ||
        bits > (network->address.any.sa_family == AF_INET ? 32 : 128))
        return -EINVAL;
    network->bits = (unsigned)bits;
    return 0;
}

/* ---- choosing --------------------------------------------------------------------- */

struct wish {
    const char *interface;         /* by name, or NULL */
    const struct network *network; /* or NULL; without both: any interface but loopback */
};

static bool network_has(const struct network *network, const union unet_sockaddr *address)
{
    const unsigned char *a = bytes_of(&network->address), *b = bytes_of(address);
    const unsigned whole = network->bits / 8, rest = network->bits % 8;

    if (network->address.any.sa_family != address->any.sa_family || memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

static bool is_link_local(const union unet_sockaddr *address)
{
    return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->ip6.sin6_addr);
}

static bool is_wished(const struct wish *wish, const struct ifaddrs *one,
                      const union unet_sockaddr *address)
{
    if (!(one->ifa_flags & IFF_UP))
        return false;
    if (wish->interface)
        return strcmp(one->ifa_name, wish->interface) == 0;
    if (wish->network)
        return network_has(wish->network, address);
    return !(one->ifa_flags & IFF_LOOPBACK) && !is_link_local(address);
}

static bool read_address(const struct ifaddrs *one, sa_family_t family,
                         union unet_sockaddr *address)
{
    if (!one->ifa_addr || one->ifa_addr->sa_family != family)
        return false;
    memset(address, 0, sizeof *address);
    memcpy(address, one->ifa_addr, family == AF_INET ? sizeof address->ip4 : sizeof address->ip6);
    return true;
}

static int local_choose(const struct ifaddrs *all, const struct wish *wish,
                        union unet_sockaddr *local)
{
    static const sa_family_t families[] = {AF_INET, AF_INET6};
    union unet_sockaddr address;

    for (int i = 0; i < 2; i++) {
        for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
            if (read_address(one, families[i], &address) && is_wished(wish, one, &address)) {
                *local = address;
                return 0;
            }
        }
    }
    return -EADDRNOTAVAIL;
}

static bool has_interface(const struct ifaddrs *all, const char *name)
{
    for (; all; all = all->ifa_next)
        if (strcmp(all->ifa_name, name) == 0)
            return true;
    return false;
}

int unet_local_choose(const struct ifaddrs *all, const char *text, union unet_sockaddr *local)
{
    struct network network;

    if (strcmp(text, "auto") == 0)
        return local_choose(all, &(struct wish){0}, local) < 0 ? parse_address("127.0.0.1", local)
                                                               : 0;
    if (strchr(text, '/')) {
        const int error = parse_network(text, &network);
        return error ? error : local_choose(all, &(struct wish){.network = &network}, local);
    }
    if (!has_interface(all, text))
        return -EINVAL;
    return local_choose(all, &(struct wish){.interface = text}, local);
}

const char *unet_local_wish(const char *otherwise)
{
    const char *wish = getenv("UNET_INTERFACE");

    return wish ? wish : otherwise;
}

/* ---- asking ----------------------------------------------------------------------- */

/* This machine's address on the default route, if there is one.  Connecting a UDP socket sends
 * nothing; 192.0.2.0/24 is reserved for documentation, so only the default route leads there. */
static int default_route(union unet_sockaddr *local)
{
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in far_away = {.sin_family = AF_INET, .sin_port = htons(9)};
    socklen_t length = sizeof local->ip4;
    int error = 0;

    if (fd < 0)
        return -errno;
    far_away.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1 */
    memset(local, 0, sizeof *local);
    if (connect(fd, (struct sockaddr *)&far_away, sizeof far_away) < 0 ||
        getsockname(fd, &local->any, &length) < 0)
        error = -errno;
    close(fd);
    local->ip4.sin_port = 0;
    return error;
}

int unet_local(const char *text, union unet_sockaddr *local)
{
    struct ifaddrs *all;
    int error;

    if (parse_address(text, local) == 0)
        return 0;
    if (strcmp(text, "auto") == 0 && default_route(local) == 0)
        return 0;
    if (getifaddrs(&all) < 0)
        return -errno;
    error = unet_local_choose(all, text, local);
    freeifaddrs(all);
    return error;
}

/* ---- interfaces --------------------------------------------------------------------- */

static bool is_same(const union unet_sockaddr *a, const union unet_sockaddr *b)
{
    const size_t n = a->any.sa_family == AF_INET ? sizeof a->ip4.sin_addr : sizeof a->ip6.sin6_addr;

    return a->any.sa_family == b->any.sa_family && memcmp(bytes_of(a), bytes_of(b), n) == 0;
}

const struct ifaddrs *unet_local_owner(const struct ifaddrs *all,
                                       const union unet_sockaddr *address)
{
    union unet_sockaddr own;

    for (; all; all = all->ifa_next)
        if (read_address(all, address->any.sa_family, &own) && is_same(&own, address))
            return all;
    return NULL;
}

static int interface_with(const union unet_sockaddr *address, char name[IF_NAMESIZE])
{
    const struct ifaddrs *owner;
    struct ifaddrs *all;

    if (getifaddrs(&all) < 0)
        return -ENODEV;
    owner = unet_local_owner(all, address);
    if (owner)
        snprintf(name, IF_NAMESIZE, "%s", owner->ifa_name);
    freeifaddrs(all);
    return owner ? 0 : -ENODEV;
}

int unet_local_interface(const char *text, char name[IF_NAMESIZE])
{
    union unet_sockaddr address;

    if (strcmp(text, "auto") == 0)
        return unet_default_ethernet(name) ? 0 : -ENODEV;
    if (strchr(text, '/') || parse_address(text, &address) == 0)
        return unet_local(text, &address) < 0 ? -ENODEV : interface_with(&address, name);
    return snprintf(name, IF_NAMESIZE, "%s", text) < IF_NAMESIZE ? 0 : -ENODEV;
}

/* ---- networks ----------------------------------------------------------------------- */

/* Clears the bits of the address that differ within its network; returns how many remain. */
static unsigned address_mask_off(union unet_sockaddr *address, const struct sockaddr *netmask)
{
    const union unet_sockaddr *mask = (const union unet_sockaddr *)netmask;
    const bool ip4 = address->any.sa_family == AF_INET;
    unsigned char *bytes =
        ip4 ? (unsigned char *)&address->ip4.sin_addr : (unsigned char *)&address->ip6.sin6_addr;
    const unsigned char *keep = ip4 ? (const unsigned char *)&mask->ip4.sin_addr
                                    : (const unsigned char *)&mask->ip6.sin6_addr;
    unsigned bits = 0;

    for (unsigned i = 0; i < (ip4 ? 4u : 16u); i++) {
        bytes[i] &= keep[i];
        bits += (unsigned)__builtin_popcount(keep[i]);
    }
    return bits;
}

static bool interface_network(const struct ifaddrs *one, sa_family_t family, char *text)
{
    union unet_sockaddr address;
    char ip[INET6_ADDRSTRLEN];
    unsigned bits;

    if (!one->ifa_netmask || (one->ifa_flags & IFF_LOOPBACK) ||
        !read_address(one, family, &address) || is_link_local(&address))
        return false;
    bits = address_mask_off(&address, one->ifa_netmask);
    if (!inet_ntop(family, bytes_of(&address), ip, sizeof ip))
        return false;
    snprintf(text, UNET_NETWORK_MAX, "%s/%u", ip, bits);
    return true;
}

bool unet_local_network(const struct ifaddrs *all, const char *name, char *text)
{
    static const sa_family_t families[] = {AF_INET, AF_INET6};

    for (int i = 0; i < 2; i++)
        for (const struct ifaddrs *one = all; one; one = one->ifa_next)
            if (strcmp(one->ifa_name, name) == 0 && interface_network(one, families[i], text))
                return true;
    return false;
}
