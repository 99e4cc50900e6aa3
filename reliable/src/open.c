/* SPDX-License-Identifier: BSD-3-Clause
 *
 * open.c - opening and closing a reliable endpoint.
 */
#include "endpoint.h"
#include <errno.h>
#include <stdlib.h>

enum {
    BATCH_BYTES = 32768,       /* of packets that are worth a system call */
    PACKET_BYTES_LEAST = 512,  /* every network passes them; shorter ones would be too many */
    PACKET_BYTES_MOST = 16384, /* twice the longest message of GAM: more gains nothing */
    TIMEOUT_MS = 10000,        /* of peers, by default */
    LINGER_US = 1000000,       /* what disconnecting waits for acknowledgements, in all */

    /* Of the endpoint below: a connection's share of the longest packets of some networks, which
     * have 9000 bytes, and no more receive slots per peer than a job of many ranks has memory
     * for. */
    LOWER_SEGMENT = 2 << 20,
    LOWER_SLOTS = 256,
    LOWER_SLOTS_MANY = 128,
    FEW_RANKS = 64,
};

/* The longest message of U-Net fits into a window, however narrow the way is. */
_Static_assert(RELIABLE_WINDOW_MIN *(PACKET_BYTES_LEAST - sizeof(struct reliable_packet) -
                                     sizeof(struct reliable_frame)) >= UNET_MESSAGE_MAX,
               "packets of the least length suffice");

void reliable_lower_config(uint32_t ranks, struct unet_config *lower)
{
    lower->segment_bytes = LOWER_SEGMENT;
    lower->send_slots = 64;
    lower->recv_slots = ranks > FEW_RANKS ? LOWER_SLOTS_MANY : LOWER_SLOTS;
    lower->free_slots = LOWER_SLOTS;
    lower->channels = ranks;
}

static void endpoint_free(struct reliable_endpoint *r)
{
    reliable_streams_close(r);
    reliable_engine_close(r->engine);
    reliable_datagrams_close(r);
    pthread_mutex_destroy(&r->lock);
    free(r->buffer);
    free(r->channel_of);
    unet_ni_close(&r->ni);
}

void reliable_endpoint_close(struct unet_endpoint *ep)
{
    struct reliable_endpoint *r = reliable_of(ep);
    struct unet_endpoint *lower = r->lower;

    for (uint32_t n = 1; n < ep->rx_rings; n++)
        unet_disconnect(ep, (uint16_t)n);
    endpoint_free(r);
    unet_close(lower);
}

/* Of a receive ring, a quarter may be read without the sender knowing it (unet_ring.h). */
static uint32_t ring_backlog(const struct reliable_endpoint *r)
{
    const uint32_t buffers = reliable_packets_buffers(r),
                   slots = r->lower->config.recv_slots / 4 * 3;

    return buffers < slots ? buffers : slots;
}

/* How many packets can wait for us. */
static uint32_t packet_backlog(const struct reliable_endpoint *r)
{
    if (r->datagrams)
        return r->datagrams->backlog(r->lower, r->buffer_bytes);
    return ring_backlog(r);
}

/* The channel is found silent when its state is looked at next. */
static void peer_died(void *arg, uint32_t rank)
{
    struct reliable_endpoint *r = arg;

    if (r->channel_of[rank] != 0)
        r->peer[r->channel_of[rank]].silent = true;
}

static int open_engine(struct reliable_endpoint *r, const struct reliable_config *config)
{
    const struct reliable_engine_config c = {
        .ranks = r->ranks,
        .rank = r->rank,
        .key = {config->key[0], config->key[1]},
        .auth = config->auth,
        .seed = unet_now_us() + r->rank,
        .packet_bytes = r->buffer_bytes,
        .packet_sure = PACKET_BYTES_LEAST,
        .batch = BATCH_BYTES,
        .backlog = packet_backlog(r),
        .peer_timeout_us = r->timeout_us,
        .deliver = reliable_messages_deliver,
        .died = peer_died,
        .note = reliable_streams_note,
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

/* What cannot be had in front of an endpoint like that. */
static int check_lower(const struct unet_endpoint *lower, uint32_t rank,
                       struct unet_address *address)
{
    struct unet_address below;

    unet_address(lower, &below);
    if (packet_bytes(lower) < PACKET_BYTES_LEAST || reliable_address(&below, rank, address) != 0)
        return -EOPNOTSUPP;
    return lower->config.send_slots < RELIABLE_SEND_BUFFERS ? -EINVAL : 0;
}

static void endpoint_init(struct reliable_endpoint *r, struct unet_endpoint *lower,
                          const struct reliable_config *config)
{
    const uint32_t never = UNET_CAP_RANGES | UNET_CAP_DIRECT;
    struct unet_endpoint *ep = &r->ni.ep;

    ep->capabilities = (lower->capabilities & ~never) | UNET_CAP_RELIABLE | UNET_CAP_ORDERED;
    r->lower = lower;
    r->datagrams = lower->ops->datagrams;
    r->peer = r->ni.link;
    r->rank = config->rank;
    r->ranks = config->ranks;
    r->timeout_us = (config->peer_timeout_ms ? config->peer_timeout_ms : TIMEOUT_MS) * 1000ull;
    r->buffer_bytes = packet_bytes(lower);
    r->linger_left_us = LINGER_US;
    pthread_mutex_init(&r->lock, NULL);
    reliable_streams_open(r, config);
}

/* Of the endpoint below something is wanted last, so that the endpoint below is as it was if
 * anything fails. */
static int open_parts(struct reliable_endpoint *r, const struct reliable_config *config)
{
    int rc;

    r->channel_of = calloc(r->ranks, sizeof(*r->channel_of));
    r->buffer = calloc(r->ni.ep.config.free_slots, sizeof(*r->buffer));
    if (!r->channel_of || !r->buffer)
        return -ENOMEM;
    rc = open_engine(r, config);
    if (rc)
        return rc;
    rc = r->datagrams ? reliable_datagrams_open(r) : reliable_packets_open(r);
    r->ni.ep.fd = r->lower->fd;
    return rc;
}

int reliable_open(struct unet_endpoint *lower, const struct reliable_config *config,
                  const struct unet_config *sizes, struct unet_endpoint **endpoint)
{
    struct unet_config complete = sizes ? *sizes : (struct unet_config){0};
    struct unet_address address;
    struct unet_ni *ni;
    int rc = unet_config_complete(&complete);

    if (rc || config->ranks < 1 || config->ranks > 65535 || config->rank >= config->ranks)
        return -EINVAL;
    rc = check_lower(lower, config->rank, &address);
    if (rc)
        return rc;
    complete.channels = lower->config.channels;
    complete.polled = lower->config.polled;
    rc = unet_ni_open(&reliable_endpoint_ops, &reliable_endpoint_kind,
                      sizeof(struct reliable_endpoint), &complete, &ni);
    if (rc)
        return rc;
    unet_ni_set_address(ni, address.bytes, address.length);
    endpoint_init(reliable_of(&ni->ep), lower, config);
    rc = open_parts(reliable_of(&ni->ep), config);
    if (rc) {
        endpoint_free(reliable_of(&ni->ep));
        return rc;
    }
    *endpoint = &ni->ep;
    return 0;
}
