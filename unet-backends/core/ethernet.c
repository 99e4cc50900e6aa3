/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ethernet.c - the interface of who names none.
 */
#include "core/core.h"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* A line is "interface destination gateway flags refcount use metric mask ...", in hexadecimal but
 * for the counts.  The default route has neither destination nor mask, and is up and no refusal. */
bool unet_is_default_route(const char *line, char name[])
{
    unsigned destination, flags, mask;

    return sscanf(line, "%15s %x %*x %x %*d %*d %*d %x", name, &destination, &flags, &mask) == 4 &&
           destination == 0 && mask == 0 && (flags & (RTF_UP | RTF_REJECT)) == RTF_UP;
}

static bool default_route(char name[IFNAMSIZ])
{
    FILE *routes = fopen("/proc/self/net/route", "re");
    bool found = false;
    char line[256];

    while (routes && !found && fgets(line, sizeof line, routes))
        found = unet_is_default_route(line, name);
    if (routes)
        fclose(routes);
    return found;
}

static bool first_that_runs(char name[IFNAMSIZ])
{
    const unsigned wanted = IFF_UP | IFF_RUNNING;
    struct ifaddrs *all;
    bool found = false;

    if (getifaddrs(&all) < 0)
        return false;
    for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        const struct sockaddr_ll *address = (const struct sockaddr_ll *)one->ifa_addr;

        found = address && address->sll_family == AF_PACKET &&
                address->sll_hatype == ARPHRD_ETHER && (one->ifa_flags & wanted) == wanted;
        if (found)
            snprintf(name, IFNAMSIZ, "%s", one->ifa_name);
    }
    freeifaddrs(all);
    return found;
}

bool unet_default_ethernet(char name[])
{
    return default_route(name) || first_that_runs(name);
}
