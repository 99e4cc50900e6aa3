/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ethernet.c - the interface of who names none.
 */
#include "core/core.h"

#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The interface of the default route; a line is "interface destination ...". */
static bool default_route(char name[IFNAMSIZ])
{
    FILE *routes = fopen("/proc/self/net/route", "re");
    bool found = false;
    char line[256];

    while (routes && !found && fgets(line, sizeof line, routes))
        found = sscanf(line, "%15s 00000000 ", name) == 1 && strstr(line, "\t00000000\t");
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
