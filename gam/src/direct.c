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

static int direct_peer(const struct gam *g, uint32_t rank, const struct gam_peer **peer)
{
    if (gam_direct_most(g, rank) == 0)
        return -EINVAL;
    *peer = &g->peer[rank];
    return (*peer)->dead ? -EPIPE : 0;
}

int gam_direct_grant(struct gam *g, uint32_t source, const void *address, size_t n, uint64_t *grant)
{
    const struct gam_peer *peer;
    const int rc = direct_peer(g, source, &peer);

    if (rc)
        return rc;
    return gam_reliable_grant(peer->port->front, peer->channel, (uintptr_t)address, n, grant);
}

int gam_direct_revoke(struct gam *g, const void *address, size_t n, uint64_t grant)
{
    struct gam_port *port = direct_port(g);

    return port ? gam_reliable_revoke(port->front, (uintptr_t)address, n, grant) : -EOPNOTSUPP;
}

int gam_direct_put(struct gam *g, uint32_t dest, uint64_t grant, const void *lva, void *rva,
                   size_t n)
{
    const struct gam_peer *peer;
    const int rc = direct_peer(g, dest, &peer);

    if (rc)
        return rc;
    return gam_reliable_put(peer->port->front, peer->channel, grant, (uintptr_t)lva, (uintptr_t)rva,
                            n);
}

uint64_t gam_direct_sum(struct gam *g, uint64_t grant, const void *address, size_t n)
{
    struct gam_port *port = direct_port(g);

    return port ? gam_reliable_sum(port->front, grant, address, n) : 0;
}
