/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.c - opening an endpoint over a UDP socket, progress, waiting.
 */
#include "udp/udp.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LOOK_EVERY = 1024,    /* calls of progress between two looks for peers that are gone */
    SLICE_MS = 100,       /* of sleep between them */
    RETRY_MS = 1,         /* of sleep, while sends are queued or channels connecting */
    RING_ALIGNMENT = 128, /* of a ring's memory */
};

/* ---- progress ---------------------------------------------------------------------- */

static void udp_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    unet_udp_service(udp_of(ep));
}

static int udp_progress(struct unet_endpoint *ep)
{
    struct udp_endpoint *ue = udp_of(ep);
    int count = unet_udp_service(ue);

    if (ue->connecting > 0)
        unet_udp_tell(ue);
    if (++ue->calls % LOOK_EVERY == 0)
        unet_udp_state(ep, 0);
    return count + unet_udp_receive(ue);
}

static int nap_ms(const struct udp_endpoint *ue, uint64_t now, uint64_t end)
{
    const uint64_t left = end > now ? (end - now + 999) / 1000 : 0;
    const bool busy = ue->connecting > 0 || ue->tx.position != ue->ep.tx.position;

    const uint64_t most = busy ? RETRY_MS : SLICE_MS;

    return (int)(left < most ? left : most);
}

static int udp_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct udp_endpoint *ue = udp_of(ep);
    const uint64_t start = unet_now_us();
    const uint64_t end = timeout_ms < 0 ? UINT64_MAX : start + (uint64_t)timeout_ms * 1000;
    const uint32_t changes = ue->changes;

    for (uint64_t now = start;; now = unet_now_us()) {
        struct pollfd fd = {.fd = ue->socket, .events = POLLIN};

        udp_progress(ep);
        if (unet_rx_peek(ep))
            return 1;
        if (now >= end || ue->changes != changes)
            return 0;
        if (poll(&fd, 1, nap_ms(ue, now, end)) < 0)
            return -errno;
        if (fd.revents != POLLIN)
            unet_udp_state(ep, 0);
    }
}

/* ---- opening -------------------------------------------------------------------------- */

static size_t ring_bytes(uint32_t slots)
{
    return (unet_ring_bytes(slots) + RING_ALIGNMENT - 1) / RING_ALIGNMENT * RING_ALIGNMENT;
}

/* The next part of our memory. */
static void *carve(uint8_t **at, size_t bytes)
{
    void *part = *at;

    *at += bytes;
    return part;
}

/* Both sides of a ring within this process. */
static void make_ring(uint8_t **at, uint32_t slots, struct unet_ring *one, struct unet_ring *other)
{
    void *memory = carve(at, ring_bytes(slots));

    unet_ring_attach(one, memory, slots);
    unet_ring_attach(other, memory, slots);
}

static int open_memory(struct udp_endpoint *ue)
{
    const struct unet_config *c = &ue->ep.config;
    struct unet_endpoint *ep = &ue->ep;
    uint8_t *at;

    ue->memory_bytes = c->segment_bytes + 2 * ring_bytes(c->send_slots) +
                       ring_bytes(c->free_slots) + ring_bytes(4) +
                       ring_bytes(c->recv_slots) * c->channels + UDP_BATCH * UNET_MESSAGE_MAX;
    at = mmap(NULL, ue->memory_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    ue->memory = at;
    ep->segment = carve(&at, c->segment_bytes);
    make_ring(&at, c->send_slots, &ep->tx, &ue->tx);
    make_ring(&at, c->send_slots, &ep->rx[0], &ue->errors);
    make_ring(&at, c->free_slots, &ep->free, &ue->free);
    unet_ring_attach(&ue->full, carve(&at, ring_bytes(4)), 4);
    ue->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    for (uint32_t n = 1; n <= c->channels; n++)
        make_ring(&at, c->recv_slots, &ep->rx[n], &ue->link[n].in);
    ue->arrivals = at;
    return 0;
}

static int open_tables(struct udp_endpoint *ue)
{
    const uint32_t n = ue->ep.config.channels + 1;
    struct unet_endpoint *ep = &ue->ep;

    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    ue->link = calloc(n, sizeof *ue->link);
    if (!ep->channel || !ep->rx || !ue->link)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &ue->full,
            .bell = &ue->always,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
    }
    ep->rx_rings = 1;
    return 0;
}

static void release(struct udp_endpoint *ue)
{
    if (ue->socket >= 0)
        close(ue->socket);
    if (ue->memory)
        munmap(ue->memory, ue->memory_bytes);
    free(ue->link);
    free(ue->ep.rx);
    free(ue->ep.channel);
    free(ue);
}

static int udp_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    struct udp_endpoint *ue = aligned_alloc(64, sizeof *ue);
    int error;

    if (!ue)
        return -ENOMEM;
    *ue = (struct udp_endpoint){
        .ep = {.ops = &unet_udp_ops,
               .config = *config,
               .capabilities = UNET_CAP_REMOTE,
               .fd = -1,
               .bell = {-1, -1}},
        .socket = -1,
        .always = 1,
    };
    ue->ep.armed = &ue->armed;
    error = open_tables(ue);
    if (error == 0)
        error = open_memory(ue);
    if (error == 0)
        error = unet_udp_bind(ue);
    if (error) {
        release(ue);
        return error;
    }
    if (!config->polled)
        ue->ep.fd = ue->socket;
    ue->ep.packet_bytes = unet_udp_packet_bytes(ue);
    *endpoint = &ue->ep;
    return 0;
}

static void udp_close(struct unet_endpoint *ep)
{
    for (uint32_t n = 1; n < ep->rx_rings; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_udp_disconnect(ep, (uint16_t)n);
    }
    release(udp_of(ep));
}

static void udp_address_of(const struct unet_endpoint *ep, struct unet_address *address)
{
    const struct udp_endpoint *ue = (const struct udp_endpoint *)ep;

    address->length = sizeof ue->own;
    memcpy(address->bytes, &ue->own, sizeof ue->own);
}

const struct unet_ops unet_udp_ops = {
    .name = "udp",
    .network = true,
    .open = udp_open,
    .close = udp_close,
    .address = udp_address_of,
    .connect = unet_udp_connect,
    .disconnect = unet_udp_disconnect,
    .state = unet_udp_state,
    .kick = udp_kick,
    .progress = udp_progress,
    .wait = udp_wait,
};
