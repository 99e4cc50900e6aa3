/* SPDX-License-Identifier: BSD-3-Clause
 *
 * open.c - opening and closing a reliable endpoint.
 */
#include "endpoint.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    BATCH_BYTES = 32768,       /* of packets that are worth a system call */
    PACKET_BYTES_LEAST = 512,  /* every network passes them; shorter ones would be too many */
    PACKET_BYTES_MOST = 16384, /* twice the longest message of GAM: more gains nothing */
    TIMEOUT_MS = 10000,        /* of peers, by default */
    ERROR_SLOTS = 64,

    /* Of the endpoint below: a connection's share of the longest packets of some networks, which
     * have 9000 bytes, and no more receive slots per peer than a job of many ranks has memory
     * for. */
    LOWER_SEGMENT = 2 << 20,
    LOWER_SLOTS = 256,
    LOWER_SLOTS_MANY = 128,
    FEW_RANKS = 64,
};

void reliable_lower_config(uint32_t ranks, struct unet_config *lower)
{
    lower->segment_bytes = LOWER_SEGMENT;
    lower->send_slots = 64;
    lower->recv_slots = ranks > FEW_RANKS ? LOWER_SLOTS_MANY : LOWER_SLOTS;
    lower->free_slots = LOWER_SLOTS;
    lower->channels = ranks;
}

static void release(struct reliable_endpoint *r)
{
    reliable_engine_close(r->engine);
    pthread_mutex_destroy(&r->lock);
    if (r->memory)
        munmap(r->memory, r->memory_bytes);
    free(r->peer);
    free(r->channel_of);
    free(r->ep.channel);
    free(r->ep.rx);
    free(r);
}

void reliable_endpoint_close(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    struct unet_endpoint *lower = r->lower;

    for (uint32_t n = 1; n < ep->rx_rings; n++)
        unet_disconnect(ep, (uint16_t)n);
    release(r);
    unet_close(lower);
}

/* The next `bytes` of the endpoint's memory. */
static void *carve(uint8_t **at, size_t bytes)
{
    void *part = *at;

    *at += bytes;
    return part;
}

/* Attaches both sides of a ring. */
static void carve_ring(uint8_t **at, uint32_t slots, struct unet_ring *one, struct unet_ring *other)
{
    void *memory = carve(at, unet_ring_bytes(slots));

    unet_ring_attach(one, memory, slots);
    unet_ring_attach(other, memory, slots);
}

static int open_memory(struct reliable_endpoint *r)
{
    const struct unet_config *c = &r->ep.config;
    struct unet_endpoint *ep = &r->ep;
    uint8_t *at;

    r->memory_bytes = c->segment_bytes + unet_ring_bytes(c->send_slots) +
                      unet_ring_bytes(c->free_slots) + unet_ring_bytes(ERROR_SLOTS) +
                      unet_ring_bytes(4) + unet_ring_bytes(c->recv_slots) * c->channels;
    at = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    r->memory = at;
    ep->segment = carve(&at, c->segment_bytes);
    carve_ring(&at, c->send_slots, &ep->tx, &r->tx);
    carve_ring(&at, c->free_slots, &ep->free, &r->free);
    carve_ring(&at, ERROR_SLOTS, &ep->rx[0], &r->errors);
    unet_ring_attach(&r->full, carve(&at, unet_ring_bytes(4)), 4);
    r->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    for (uint32_t n = 1; n <= c->channels; n++)
        carve_ring(&at, c->recv_slots, &ep->rx[n], &r->peer[n].in);
    return 0;
}

static int open_tables(struct reliable_endpoint *r)
{
    const uint32_t n = r->ep.config.channels + 1;
    struct unet_endpoint *ep = &r->ep;

    ep->channel = calloc(n, sizeof(*ep->channel));
    ep->rx = calloc(n, sizeof(*ep->rx));
    r->peer = calloc(n, sizeof(*r->peer));
    r->channel_of = calloc(r->ranks, sizeof(*r->channel_of));
    if (!ep->channel || !ep->rx || !r->peer || !r->channel_of)
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
 * packets can wait for us, or -errno: of a receive ring, a quarter may be read without the sender
 * knowing it (unet_ring.h). */
static int post_buffers(struct reliable_endpoint *r)
{
    const struct unet_config *c = &r->lower->config;
    uint32_t offset = RELIABLE_SEND_BUFFERS * r->buffer_bytes;
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

/* The channel is found silent when its state is looked at next. */
static void peer_died(void *arg, uint32_t rank)
{
    struct reliable_endpoint *r = arg;

    r->peer[r->channel_of[rank]].silent = true;
}

static int open_engine(struct reliable_endpoint *r, const uint64_t key[2], int backlog)
{
    const struct reliable_engine_config c = {
        .ranks = r->ranks,
        .rank = r->rank,
        .key = {key[0], key[1]},
        .seed = reliable_now_us() + r->rank,
        .packet_bytes = r->buffer_bytes,
        .packet_sure = PACKET_BYTES_LEAST,
        .batch = BATCH_BYTES,
        .backlog = (uint32_t)backlog,
        .peer_timeout_us = r->timeout_us,
        .deliver = reliable_messages_deliver,
        .died = peer_died,
        .arg = r,
    };

    return reliable_engine_open(&c, &r->engine);
}

/* As long as the network takes, but three quarters of the segment are for packets that arrive.
 * Buffers begin at cache lines. */
static uint32_t packet_bytes(const struct unet_endpoint *lower)
{
    const uint32_t part = lower->config.segment_bytes / (4 * RELIABLE_SEND_BUFFERS);
    uint32_t most = PACKET_BYTES_MOST;

    most = lower->packet_bytes < most ? lower->packet_bytes : most;
    most = part < most ? part : most;
    return most & ~63u;
}

/* Whether the rank can be put behind the address of the endpoint below. */
static bool has_address(const struct unet_endpoint *lower)
{
    struct unet_address address;

    unet_address(lower, &address);
    return reliable_address(&address, 0, &address) == 0;
}

static struct reliable_endpoint *new_endpoint(struct unet_endpoint *lower,
                                              const struct reliable_config *config,
                                              const struct unet_config *sizes)
{
    struct reliable_endpoint *r = aligned_alloc(64, sizeof(*r));

    if (!r)
        return NULL;
    *r = (struct reliable_endpoint){
        .ep = {.ops = &reliable_endpoint_ops,
               .config = *sizes,
               .capabilities = (lower->capabilities & ~(uint32_t)UNET_CAP_RANGES) |
                               UNET_CAP_RELIABLE | UNET_CAP_ORDERED,
               .packet_bytes = UNET_MESSAGE_MAX,
               .fd = lower->fd,
               .bell = {-1, -1}},
        .lower = lower,
        .rank = config->rank,
        .ranks = config->ranks,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .timeout_us = (config->peer_timeout_ms ? config->peer_timeout_ms : TIMEOUT_MS) * 1000ull,
        .bell = 1,
        .buffer_bytes = packet_bytes(lower),
    };
    r->ep.config.channels = lower->config.channels;
    r->ep.config.polled = lower->config.polled;
    return r;
}

static int open_parts(struct reliable_endpoint *r, const uint64_t key[2])
{
    int rc = open_tables(r);

    if (rc == 0)
        rc = open_memory(r);
    if (rc == 0)
        rc = post_buffers(r);
    if (rc > 0)
        rc = open_engine(r, key, rc);
    return rc;
}

int reliable_open(struct unet_endpoint *lower, const struct reliable_config *config,
                  const struct unet_config *sizes, struct unet_endpoint **endpoint)
{
    struct unet_config complete = *sizes;
    struct reliable_endpoint *r;
    int rc = unet_config_complete(&complete);

    if (rc || config->ranks < 1 || config->ranks > 65536 || config->rank >= config->ranks)
        return -EINVAL;
    if (packet_bytes(lower) < PACKET_BYTES_LEAST || !has_address(lower))
        return -EOPNOTSUPP;
    r = new_endpoint(lower, config, &complete);
    if (!r)
        return -ENOMEM;
    rc = open_parts(r, config->key);
    if (rc) {
        release(r);
        return rc;
    }
    *endpoint = &r->ep;
    return 0;
}
