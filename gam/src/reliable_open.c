/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable_open.c - opening and closing a reliable endpoint.
 */
#include "internal.h"
#include "reliable_state.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    BATCH_BYTES = 32768, /* of packets that wait to go together */
    PACKET_LEAST = 512,  /* below that a message of GAM takes too many */
    PACKET_MOST = 16384, /* beyond that a packet holds the longest message twice over */
    TIMEOUT_MS = 10000,  /* of peers, by default */
};

void gam_reliable_close(struct unet_endpoint *ep)
{
    struct gam_reliable *r = gam_reliable_of(ep);

    gam_net_close(r->net);
    pthread_mutex_destroy(&r->lock);
    if (r->memory)
        munmap(r->memory, r->memory_bytes);
    free(r->line);
    free(r->channel);
    free(ep->channel);
    free(ep->rx);
    free(r);
}

/* The next `bytes` of our memory. */
static void *carve(uint8_t **at, size_t bytes)
{
    void *part = *at;

    *at += bytes;
    return part;
}

static int open_memory(struct gam_reliable *r)
{
    const struct unet_config *c = &r->ep.config;
    struct unet_endpoint *ep = &r->ep;
    uint8_t *at;

    r->memory_bytes = c->segment_bytes + unet_ring_bytes(c->send_slots) +
                      unet_ring_bytes(c->free_slots) + unet_ring_bytes(4) * 2 +
                      unet_ring_bytes(c->recv_slots) * c->channels;
    at = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    r->memory = at;
    ep->segment = carve(&at, c->segment_bytes);
    unet_ring_attach(&ep->tx, at, c->send_slots);
    unet_ring_attach(&r->tx, carve(&at, unet_ring_bytes(c->send_slots)), c->send_slots);
    unet_ring_attach(&ep->free, at, c->free_slots);
    unet_ring_attach(&r->free, carve(&at, unet_ring_bytes(c->free_slots)), c->free_slots);
    unet_ring_attach(&r->full, carve(&at, unet_ring_bytes(4)), 4);
    r->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    unet_ring_attach(&ep->rx[0], carve(&at, unet_ring_bytes(4)), 4);
    for (uint32_t n = 1; n <= c->channels; n++) {
        unet_ring_attach(&ep->rx[n], at, c->recv_slots);
        unet_ring_attach(&r->line[n].in, carve(&at, unet_ring_bytes(c->recv_slots)), c->recv_slots);
    }
    return 0;
}

static int open_tables(struct gam_reliable *r, uint32_t ranks)
{
    const uint32_t n = r->ep.config.channels + 1;
    struct unet_endpoint *ep = &r->ep;

    ep->channel = calloc(n, sizeof(*ep->channel));
    ep->rx = calloc(n, sizeof(*ep->rx));
    r->line = calloc(n, sizeof(*r->line));
    r->channel = calloc(ranks, sizeof(*r->channel));
    if (!ep->channel || !ep->rx || !r->line || !r->channel)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &r->full,
            .bell = &r->bell,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
    }
    ep->rx_rings = 1;
    return 0;
}

/* The segment below is send buffers, and then receive buffers as far as it goes.  Returns how many
 * packets can wait for us, or -errno: of a receive ring, a quarter may be read and not yet told. */
static int post_buffers(struct gam_reliable *r)
{
    const struct unet_config *c = &r->lower->config;
    uint32_t offset = GAM_RELIABLE_SENDS * r->buffer_bytes;
    int count = 0;

    for (; (uint64_t)offset + r->buffer_bytes <= c->segment_bytes; offset += r->buffer_bytes) {
        const int rc = unet_free_put(r->lower, offset, r->buffer_bytes);

        if (rc == -EAGAIN)
            break;
        if (rc)
            return rc;
        count++;
    }
    if (count > (int)c->recv_slots / 4 * 3)
        count = (int)c->recv_slots / 4 * 3;
    return count > 0 ? count : -EINVAL;
}

static int open_net(struct gam_reliable *r, const struct gam_config *config, int backlog)
{
    const struct gam_net_config c = {
        .ranks = config->ranks,
        .rank = config->rank,
        .key = {config->key[0], config->key[1]},
        .seed = gam_now_us() + config->rank,
        .packet_bytes = r->buffer_bytes,
        .packet_sure = PACKET_LEAST,
        .batch = BATCH_BYTES,
        .backlog = (uint32_t)backlog,
        .peer_timeout_us = r->timeout_us,
        .deliver = gam_reliable_deliver,
        .died = gam_reliable_died,
        .arg = r,
    };

    return gam_net_open(&c, &r->net);
}

/* As long as the network takes, but three quarters of the segment are for packets that arrive.
 * Buffers begin at cache lines. */
static uint32_t packet_bytes(const struct unet_endpoint *lower)
{
    const uint32_t part = lower->config.segment_bytes / (4 * GAM_RELIABLE_SENDS);
    uint32_t most = PACKET_MOST;

    most = lower->packet_bytes < most ? lower->packet_bytes : most;
    most = part < most ? part : most;
    return most & ~63u;
}

int gam_reliable_open(struct unet_endpoint *lower, const struct gam_config *config,
                      struct unet_endpoint **endpoint)
{
    struct gam_reliable *r = aligned_alloc(64, sizeof(*r));
    int rc;

    if (!r)
        return -ENOMEM;
    *r = (struct gam_reliable){
        .ep = {.ops = &gam_reliable_ops,
               .config = lower->config,
               .capabilities = (lower->capabilities & ~(uint32_t)UNET_CAP_RANGES) |
                               UNET_CAP_RELIABLE | UNET_CAP_ORDERED,
               .packet_bytes = UNET_MESSAGE_MAX,
               .fd = lower->fd,
               .bell = {-1, -1}},
        .lower = lower,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .timeout_us = (config->peer_timeout_ms ? config->peer_timeout_ms : TIMEOUT_MS) * 1000ull,
        .bell = 1,
        .buffer_bytes = packet_bytes(lower),
    };
    gam_front_config(config->ranks, config->window, &r->ep.config);
    r->ep.config.channels = lower->config.channels;
    rc = r->buffer_bytes < PACKET_LEAST ? -EOPNOTSUPP : open_tables(r, config->ranks);
    if (rc == 0)
        rc = open_memory(r);
    if (rc == 0)
        rc = post_buffers(r);
    if (rc > 0)
        rc = open_net(r, config, rc);
    if (rc) {
        gam_reliable_close(&r->ep);
        return rc;
    }
    *endpoint = &r->ep;
    return 0;
}
