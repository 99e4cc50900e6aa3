/* SPDX-License-Identifier: BSD-3-Clause
 *
 * open.c - making and closing an instance.
 */
#include "internal.h"
#include <stdlib.h>

/* A sender does not wait for credits if a window covers a round trip: more than 32 messages at 60
 * million a second.  A round trip over a network is a hundred times longer, so those windows are as
 * large as a byte can count.  With many peers, memory matters more. */
enum { WINDOW_FEW = 64, WINDOW_FAR = 255, WINDOW_MANY = 32, FEW_RANKS = 64 };
enum { BULK_LEAST = 2, BULK_NEAR = 8, BULK_FAR = 255, BULK_BUFFERS = 512 };

enum { QUIET_POLLS = 32 }; /* some 10 us, each asks the system */

/* What docs/gam.md says of the memory per peer. */
_Static_assert(sizeof(struct gam_peer) == 128, "two cache lines");
_Static_assert(sizeof(struct gam_stream) == 48, "per get that may wait");

/* ---- sizes ---------------------------------------------------------------------- */

static uint32_t small_window(uint32_t ranks, bool far)
{
    if (ranks > FEW_RANKS)
        return WINDOW_MANY;
    return far ? WINDOW_FAR : WINDOW_FEW;
}

static uint32_t bulk_window(uint32_t ranks, bool far)
{
    const uint32_t share = BULK_BUFFERS / ranks, most = far ? BULK_FAR : BULK_NEAR;

    return share < BULK_LEAST ? (uint32_t)BULK_LEAST : share > most ? most : share;
}

/* Both ends have to compute the same windows, so these depend on `ranks`, `window` and the kind of
 * endpoint alone. */
static struct gam_windows windows_of(uint32_t ranks, uint32_t window, bool far)
{
    return (struct gam_windows){
        .limit[GAM_SMALL] = window ? window : small_window(ranks, far),
        .limit[GAM_BULK] = bulk_window(ranks, far),
    };
}

static uint32_t receive_buffers(uint32_t ranks, const struct gam_windows *windows)
{
    return ranks * windows->limit[GAM_BULK] + 1;
}

static uint32_t power_of_two(uint32_t at_least)
{
    uint32_t n = 1;

    while (n < at_least)
        n *= 2;
    return n;
}

/* Two slots per credit (internal.h), and a quarter of the ring, which the consumer may have read
 * without publishing its position (unet_ring.h). */
static uint32_t receive_slots(const struct gam_windows *windows)
{
    const uint32_t needed = 2 * (windows->limit[GAM_SMALL] + windows->limit[GAM_BULK]);

    return power_of_two(needed + needed / 3 + 1);
}

static uint32_t at_least(uint32_t least, uint32_t n)
{
    return n < least ? least : n;
}

static void endpoint_config(uint32_t ranks, const struct gam_windows *windows,
                            struct unet_config *config)
{
    const uint32_t buffers = receive_buffers(ranks, windows);

    config->segment_bytes =
        at_least(UNET_SEGMENT_DEFAULT, GAM_RECEIVE_BASE + buffers * GAM_BUFFER_BYTES);
    config->send_slots = 64;
    config->recv_slots = receive_slots(windows);
    config->free_slots = power_of_two(buffers);
    config->channels = ranks;
}

void gam_endpoint_config(uint32_t ranks, uint32_t window, struct unet_config *config)
{
    const struct gam_windows windows = windows_of(ranks, window, false);

    endpoint_config(ranks, &windows, config);
}

void gam_network_config(uint32_t ranks, uint32_t window, struct unet_config *config)
{
    const struct gam_windows windows = windows_of(ranks, window, true);

    endpoint_config(ranks, &windows, config);
}

static struct gam_windows windows_at(const struct unet_endpoint *ep,
                                     const struct gam_config *config)
{
    return windows_of(config->ranks, config->window, ep->ops->network);
}

static bool endpoint_fits(const struct unet_endpoint *ep, const struct gam_config *config)
{
    const struct gam_windows windows = windows_at(ep, config);
    struct unet_config need = {0};

    endpoint_config(config->ranks, &windows, &need);
    return ep->config.segment_bytes >= need.segment_bytes &&
           ep->config.recv_slots >= need.recv_slots && ep->config.free_slots >= need.free_slots &&
           ep->config.channels >= need.channels;
}

/* 0, or why an instance cannot be opened on the endpoint. */
static int check_endpoint(const struct unet_endpoint *ep, const struct gam_config *config)
{
    const uint32_t needed = UNET_CAP_RELIABLE | UNET_CAP_ORDERED;

    if ((ep->capabilities & needed) != needed)
        return -EOPNOTSUPP;
    return endpoint_fits(ep, config) ? 0 : -EINVAL;
}

static bool config_ok(const struct gam_config *config)
{
    return config->ranks >= 1 && config->ranks <= GAM_RANKS_MAX && config->rank < config->ranks &&
           config->resolve && config->window <= GAM_WINDOW_MAX;
}

/* ---- connecting ----------------------------------------------------------------- */

static int connect_by(struct gam *g, struct gam_port *port, struct gam_peer *peer,
                      const struct unet_address *address, const uint64_t key[2])
{
    int rc = unet_connect(port->ep, address, gam_tag(key, g->rank, peer->rank), &peer->channel);

    if (rc)
        return rc;
    peer->port = port;
    peer->ep = port->ep;
    for (int i = 0; i < GAM_CLASSES; i++)
        peer->credits[i] = peer->limit[i] = (uint8_t)port->windows.limit[i];
    port->by_channel[peer->channel] = peer;
    return 0;
}

static int connect_peer(struct gam *g, const struct gam_config *config, struct gam_peer *peer)
{
    struct unet_address address;
    const int port = config->resolve(config->resolve_arg, peer->rank, &address);

    if (port < 0)
        return port;
    if ((uint32_t)port >= g->ports)
        return -EINVAL;
    return connect_by(g, &g->port[port], peer, &address, config->key);
}

static void disconnect_all(struct gam *g)
{
    for (uint32_t i = 0; i < g->ranks; i++) {
        if (g->peer[i].channel != 0)
            unet_disconnect(g->peer[i].ep, g->peer[i].channel);
    }
}

static int connect_all(struct gam *g, const struct gam_config *config)
{
    for (uint32_t i = 0; i < g->ranks; i++) {
        int rc = connect_peer(g, config, &g->peer[i]);

        if (rc) {
            disconnect_all(g);
            return rc;
        }
    }
    return 0;
}

static int post_buffers(const struct gam_port *port)
{
    for (uint32_t offset = GAM_RECEIVE_BASE; offset < port->receive_end;
         offset += GAM_BUFFER_BYTES) {
        int rc = unet_free_put(port->ep, offset, GAM_BUFFER_BYTES);

        if (rc)
            return rc;
    }
    return 0;
}

static int post_all(const struct gam *g)
{
    int rc = 0;

    for (uint32_t i = 0; i < g->ports && rc == 0; i++)
        rc = post_buffers(&g->port[i]);
    return rc;
}

/* ---- ports ---------------------------------------------------------------------- */

static int open_port(struct gam *g, struct unet_endpoint *ep, const struct gam_config *config)
{
    const struct gam_windows windows = windows_at(ep, config);
    struct gam_port *port = &g->port[g->ports];

    *port = (struct gam_port){
        .ep = ep,
        .next = g->port,
        .windows = windows,
        .receive_end =
            GAM_RECEIVE_BASE + receive_buffers(config->ranks, &windows) * GAM_BUFFER_BYTES,
    };
    port->by_channel = calloc(ep->config.channels + 1u, sizeof(struct gam_peer *));
    if (!port->by_channel)
        return -ENOMEM;
    if (g->ports > 0)
        port[-1].next = port;
    g->ports++;
    unet_set_placement(ep, gam_bulk_place, port); /* if it can */
    if (ep->ops->network)
        g->quiet_before_ack = QUIET_POLLS;
    return 0;
}

static void free_ports(struct gam *g)
{
    for (uint32_t i = 0; i < g->ports; i++) {
        unet_set_placement(g->port[i].ep, NULL, NULL);
        free(g->port[i].by_channel);
    }
}

/* ---- instances ------------------------------------------------------------------ */

static void peer_init(struct gam *g, uint32_t rank, uint32_t gets)
{
    struct gam_peer *peer = &g->peer[rank];

    peer->rank = rank;
    peer->deferred_end = &peer->deferred;
    peer->stores_end = &peer->stores;
    peer->answers = g->answers + (size_t)rank * gets;
}

static void instance_free(struct gam *g)
{
    if (!g)
        return;
    free_ports(g);
    free(g->peer);
    free(g->answers);
    free(g);
}

static struct gam *instance_new(const struct gam_config *config)
{
    const uint32_t gets = windows_of(config->ranks, config->window, true).limit[GAM_SMALL];
    struct gam *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    g->look = g->port;
    g->ranks = config->ranks;
    g->rank = config->rank;
    g->dead = -1;

    g->peer = aligned_alloc(64, config->ranks * sizeof(*g->peer));
    g->answers = calloc((size_t)config->ranks * gets, sizeof(*g->answers));
    if (!g->peer || !g->answers) {
        instance_free(g);
        return NULL;
    }
    memset(g->peer, 0, config->ranks * sizeof(*g->peer));
    for (uint32_t rank = 0; rank < config->ranks; rank++)
        peer_init(g, rank, gets);
    return g;
}

int gam_open(struct unet_endpoint *ep, const struct gam_config *config, struct gam **out)
{
    struct gam *g;
    int rc = config_ok(config) ? check_endpoint(ep, config) : -EINVAL;

    if (rc == 0 && config->network)
        rc = check_endpoint(config->network, config);
    if (rc)
        return rc;
    g = instance_new(config);
    if (!g)
        return -ENOMEM;
    rc = open_port(g, ep, config);
    if (rc == 0 && config->network)
        rc = open_port(g, config->network, config);
    if (rc == 0)
        rc = connect_all(g, config);
    if (rc)
        goto out_release;
    rc = post_all(g);
    if (rc)
        goto out_disconnect;
    *out = g;
    return 0;

out_disconnect:
    disconnect_all(g);
out_release:
    instance_free(g);
    return rc;
}

static void stores_drop(struct gam_peer *peer)
{
    while (peer->stores) {
        struct gam_transfer *store = peer->stores;

        peer->stores = store->next;
        free(store);
    }
}

void gam_close(struct gam *g)
{
    if (!g)
        return;
    disconnect_all(g);
    for (uint32_t i = 0; i < g->ranks; i++) {
        gam_deferred_drop(&g->peer[i]);
        stores_drop(&g->peer[i]);
    }
    instance_free(g);
}

int gam_register(struct gam *g, uint32_t index, gam_handler_fn *fn)
{
    if (!gam_handler_ok(index) || !fn)
        return -EINVAL;
    if (g->handler[index] && g->handler[index] != fn)
        return -EEXIST;
    g->handler[index] = fn;
    return 0;
}

/* ---- looking at one ------------------------------------------------------------- */

bool gam_in_handler(const struct gam *g)
{
    return g->context != GAM_MAIN;
}

uint32_t gam_ranks(const struct gam *g)
{
    return g->ranks;
}

uint32_t gam_rank(const struct gam *g)
{
    return g->rank;
}

uint16_t gam_channel(const struct gam *g, uint32_t rank)
{
    return rank < g->ranks ? g->peer[rank].channel : 0;
}

void gam_stats(const struct gam *g, struct gam_stats *stats)
{
    *stats = g->stats;
}

int64_t gam_dead_peer(const struct gam *g)
{
    return g->dead;
}

bool gam_is_dead(const struct gam *g, uint32_t rank)
{
    return rank < g->ranks && g->peer[rank].dead;
}

int64_t gam_serving(const struct gam *g)
{
    return g->serving ? (int64_t)g->serving->rank : -1;
}

bool gam_holds_back(const struct gam *g)
{
    return g->list[GAM_WORKING] != NULL;
}

bool gam_settled(const struct gam *g)
{
    bool settled = !gam_holds_back(g);

    for (uint32_t i = 0; i < g->ports; i++)
        settled = settled && unet_idle(g->port[i].ep);
    return settled;
}

size_t gam_pending(const struct gam *g)
{
    return g->pending;
}
