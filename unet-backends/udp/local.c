/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/local.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
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

static int parse_address(const char *text, union udp_sockaddr *address)
{
    memset(address, 0, sizeof *address);
    address->ip4.sin_family = AF_INET;
    if (inet_pton(AF_INET, text, &address->ip4.sin_addr) == 1)
        return 0;
    memset(address, 0, sizeof *address);
    return parse_ip6(text, &address->ip6);
}

/* The address itself, without family and port. */
static const unsigned char *bytes_of(const union udp_sockaddr *address)
{
    return address->any.sa_family == AF_INET ? (const unsigned char *)&address->ip4.sin_addr
                                             : (const unsigned char *)&address->ip6.sin6_addr;
}

struct network {
    union udp_sockaddr address;
    unsigned bits; /* in common to all in it */
};

static int parse_network(const char *text, struct network *network)
{
    const char *slash = strchr(text, '/');
    char address[INET6_ADDRSTRLEN] = "", *end;
    const size_t length = (size_t)(slash - text);

    if (length >= sizeof address)
        return -EINVAL;
    memcpy(address, text, length);
    if (parse_address(address, &network->address) < 0)
        return -EINVAL;
    network->bits = (unsigned)strtoul(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || slash[1] == '-' || slash[1] == '+' ||
        network->bits > (network->address.any.sa_family == AF_INET ? 32 : 128))
        return -EINVAL;
    return 0;
}

/* ---- choosing --------------------------------------------------------------------- */

struct wish {
    const char *interface;         /* by name, or NULL */
    const struct network *network; /* or NULL; without both: any interface but loopback */
};

static bool is_in(const struct network *network, const union udp_sockaddr *address)
{
    const unsigned char *a = bytes_of(&network->address), *b = bytes_of(address);
    const unsigned whole = network->bits / 8, rest = network->bits % 8;

    if (network->address.any.sa_family != address->any.sa_family || memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

static bool is_wished(const struct wish *wish, const struct ifaddrs *one,
                      const union udp_sockaddr *address)
{
    if (!(one->ifa_flags & IFF_UP))
        return false;
    if (wish->interface)
        return strcmp(one->ifa_name, wish->interface) == 0;
    if (wish->network)
        return is_in(wish->network, address);
    return !(one->ifa_flags & IFF_LOOPBACK) &&
           !(address->any.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->ip6.sin6_addr));
}

static bool read_address(const struct ifaddrs *one, sa_family_t family, union udp_sockaddr *address)
{
    if (!one->ifa_addr || one->ifa_addr->sa_family != family)
        return false;
    memset(address, 0, sizeof *address);
    memcpy(address, one->ifa_addr, family == AF_INET ? sizeof address->ip4 : sizeof address->ip6);
    return true;
}

static int choose(const struct ifaddrs *all, const struct wish *wish, union udp_sockaddr *local)
{
    static const sa_family_t families[] = {AF_INET, AF_INET6};
    union udp_sockaddr address;

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

int unet_udp_choose(const struct ifaddrs *all, const char *text, union udp_sockaddr *local)
{
    struct network network;

    if (strcmp(text, "auto") == 0)
        return choose(all, &(struct wish){0}, local) < 0 ? parse_address("127.0.0.1", local) : 0;
    if (strchr(text, '/')) {
        const int error = parse_network(text, &network);
        return error ? error : choose(all, &(struct wish){.network = &network}, local);
    }
    if (!has_interface(all, text))
        return -EINVAL;
    return choose(all, &(struct wish){.interface = text}, local);
}

/* ---- asking ----------------------------------------------------------------------- */

/* Our address on the way to far away, if there is a default route.  Nothing is sent; the
 * address is one of those kept for documents. */
static int default_route(union udp_sockaddr *local)
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

int unet_udp_local(const char *text, union udp_sockaddr *local)
{
    struct ifaddrs *all;
    int error;

    if (parse_address(text, local) == 0)
        return 0;
    if (strcmp(text, "auto") == 0 && default_route(local) == 0)
        return 0;
    if (getifaddrs(&all) < 0)
        return -errno;
    error = unet_udp_choose(all, text, local);
    freeifaddrs(all);
    return error;
}
