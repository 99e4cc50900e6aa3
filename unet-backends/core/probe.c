/* SPDX-License-Identifier: BSD-3-Clause
 *
 * probe.c - what a backend would do here.
 */
#include "core/local.h"

#include "core/core.h"

#include <stddef.h>

static bool find_network(const char *interface, char *network)
{
    struct ifaddrs *all;
    bool found;

    if (interface[0] == '\0' || getifaddrs(&all) < 0)
        return false;
    found = unet_local_network(all, interface, network);
    freeifaddrs(all);
    return found;
}

int unet_probe(const struct unet_ops *backend, char network[UNET_NETWORK_MAX])
{
    static const struct unet_config small = {
        .segment_bytes = 4096,
        .send_slots = 4,
        .recv_slots = 4,
        .free_slots = 4,
        .channels = 1,
        .polled = true,
    };
    struct unet_endpoint *ep;
    const int error = unet_open(backend, &small, &ep);

    if (error)
        return error;
    if (!find_network(ep->interface, network))
        network[0] = '\0';
    unet_close(ep);
    return 0;
}
