/* SPDX-License-Identifier: BSD-3-Clause
 *
 * direct.c - direct access, rank by rank.
 */
#include "internal.h"

/* One port at most leads to a network. */
static struct gam_port *direct_port(struct gam *g)
{
    for (uint32_t i = 0; i < g->ports; i++)
        if (g->port[i].direct)
            return &g->port[i];
    return NULL;
}

int gam_direct_open(struct gam *g)
{
    int rc = -EOPNOTSUPP;

    for (uint32_t i = 0; i < g->ports; i++) {
        struct gam_port *port = &g->port[i];

        if (!port->front)
            continue;
        rc = gam_reliable_export(port->front);
        port->direct = rc == 0;
    }
    return rc;
}

size_t gam_direct_most(const struct gam *g, uint32_t rank)
{
    const struct gam_port *port = rank < g->ranks ? g->peer[rank].port : NULL;

    return port && port->direct ? gam_reliable_direct_most(port->front) : 0;
}

int gam_direct_hold(struct gam *g, const void *address, size_t n)
{
    struct gam_port *port = direct_port(g);

    return port ? gam_reliable_hold(port->front, (uintptr_t)address, n) : -EOPNOTSUPP;
}

void gam_direct_release(struct gam *g, const void *address, size_t n)
{
    struct gam_port *port = direct_port(g);

    if (port)
        gam_reliable_release(port->front, (uintptr_t)address, n);
}

int gam_direct_put(struct gam *g, uint32_t dest, uint32_t transfer, const void *lva, void *rva,
                   size_t n)
{
    const struct gam_peer *peer = &g->peer[dest];

    if (gam_direct_most(g, dest) == 0)
        return -EINVAL;
    if (peer->dead)
        return -EPIPE;
    return gam_reliable_put(peer->port->front, peer->channel, transfer, (uintptr_t)lva,
                            (uintptr_t)rva, n);
}

uint32_t gam_direct_come(struct gam *g, uint32_t source, uint32_t transfer)
{
    const struct gam_peer *peer = &g->peer[source];

    if (gam_direct_most(g, source) == 0)
        return 0;
    return gam_reliable_come(peer->port->front, peer->channel, transfer);
}
