/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - opening an emulated endpoint, progress, waiting.
 */
#include "datagram/datagram.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "frames are read and written as they lie in memory: little-endian machines only"
#endif

enum {
    LOOK_EVERY = 1024, /* calls of progress between two looks for peers that are gone */
    SLICE_MS = 100,    /* of sleep between them */
    RETRY_MS = 1,      /* of sleep, while sends are queued or channels connecting */
};

/* ---- progress ---------------------------------------------------------------------- */

void unet_emu_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    unet_emu_service(emu_of(ep));
}

int unet_emu_receive(struct emu_endpoint *ee)
{
    const int count = ee->transport->receive(ee);

    if (count > 0 && ee->ep.upcall)
        unet_upcall_arrived(&ee->ep);
    return count;
}

int unet_emu_progress(struct unet_endpoint *ep)
{
    struct emu_endpoint *ee = emu_of(ep);
    int count = unet_emu_service(ee);

    if (ee->connecting > 0)
        unet_emu_tell(ee);
    if (++ee->calls % LOOK_EVERY == 0)
        unet_emu_look(ee);
    return count + unet_emu_receive(ee);
}

static int nap_ms(const struct emu_endpoint *ee, uint64_t now, uint64_t end)
{
    const uint64_t left = end > now ? (end - now + 999) / 1000 : 0;
    const bool busy = ee->connecting > 0 || ee->tx.position != ee->ep.tx.position;
    const uint64_t most = busy ? RETRY_MS : SLICE_MS;

    return (int)(left < most ? left : most);
}

int unet_emu_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct emu_endpoint *ee = emu_of(ep);
    const uint64_t start = unet_now_us();
    const uint64_t end = timeout_ms < 0 ? UINT64_MAX : start + (uint64_t)timeout_ms * 1000;
    const uint32_t changes = ee->changes;

    for (uint64_t now = start;; now = unet_now_us()) {
        struct pollfd fd = {.fd = ee->socket, .events = POLLIN};

        unet_emu_progress(ep);
        if (unet_rx_peek(ep))
            return 1;
        if (now >= end || ee->changes != changes)
            return 0;
        if (poll(&fd, 1, nap_ms(ee, now, end)) < 0)
            return -errno;
        if (fd.revents != POLLIN)
            unet_emu_state(ep, 0);
    }
}

/* ---- opening -------------------------------------------------------------------------- */

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
    void *memory = carve(at, unet_ring_bytes(slots));

    unet_ring_attach(one, memory, slots);
    unet_ring_attach(other, memory, slots);
}

static int open_memory(struct emu_endpoint *ee)
{
    const struct unet_config *c = &ee->ep.config;
    struct unet_endpoint *ep = &ee->ep;
    uint8_t *at;

    ee->memory_bytes = c->segment_bytes + 2 * unet_ring_bytes(c->send_slots) +
                       unet_ring_bytes(c->free_slots) + unet_ring_bytes(4) +
                       unet_ring_bytes(c->recv_slots) * c->channels;
    at = mmap(NULL, ee->memory_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    ee->memory = at;
    ep->segment = carve(&at, c->segment_bytes);
    make_ring(&at, c->send_slots, &ep->tx, &ee->tx);
    make_ring(&at, c->send_slots, &ep->rx[0], &ee->errors);
    make_ring(&at, c->free_slots, &ep->free, &ee->free);
    unet_ring_attach(&ee->full, carve(&at, unet_ring_bytes(4)), 4);
    ee->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    for (uint32_t n = 1; n <= c->channels; n++)
        make_ring(&at, c->recv_slots, &ep->rx[n], &ee->link[n].in);
    return 0;
}

static int open_tables(struct emu_endpoint *ee)
{
    const uint32_t n = ee->ep.config.channels + 1;
    struct unet_endpoint *ep = &ee->ep;
    uint32_t buckets = 1;

    while (buckets < n)
        buckets *= 2;
    ee->bucket_mask = buckets - 1;
    ee->bucket = calloc(buckets, sizeof *ee->bucket);
    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    ee->link = calloc(n, sizeof *ee->link);
    if (!ee->bucket || !ep->channel || !ep->rx || !ee->link)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &ee->full,
            .bell = &ee->always,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
    }
    ep->rx_rings = 1;
    return 0;
}

static int open_socket(struct emu_endpoint *ee)
{
    if (getrandom(&ee->nonce, sizeof ee->nonce, 0) != sizeof ee->nonce)
        return -EIO;
    return ee->transport->bind(ee);
}

static void release(struct emu_endpoint *ee)
{
    ee->transport->unbind(ee);
    unet_bell_close(ee->ep.bell);
    if (ee->memory)
        munmap(ee->memory, ee->memory_bytes);
    free(ee->link);
    free(ee->ep.rx);
    free(ee->ep.channel);
    free(ee->bucket);
    free(ee);
}

static struct emu_endpoint *new_endpoint(const struct emu_transport *transport,
                                         const struct unet_config *config)
{
    const size_t bytes = (transport->bytes + 63) / 64 * 64;
    struct emu_endpoint *ee = aligned_alloc(64, bytes);

    if (!ee)
        return NULL;
    memset(ee, 0, bytes);
    ee->transport = transport;
    ee->socket = -1;
    ee->always = 1;
    ee->ep.ops = transport->ops;
    ee->ep.config = *config;
    ee->ep.capabilities = UNET_CAP_REMOTE;
    ee->ep.armed = &ee->armed;
    ee->ep.fd = -1;
    ee->ep.bell[0] = ee->ep.bell[1] = -1;
    return ee;
}

int unet_emu_open(const struct emu_transport *transport, const struct unet_config *config,
                  struct unet_endpoint **endpoint)
{
    struct emu_endpoint *ee = new_endpoint(transport, config);
    int error;

    if (!ee)
        return -ENOMEM;
    error = open_tables(ee);
    if (error == 0)
        error = open_memory(ee);
    if (error == 0)
        error = open_socket(ee);
    if (error) {
        release(ee);
        return error;
    }
    if (!config->polled) {
        ee->ep.fd = ee->socket;
        ee->ep.wired = true;
    }
    *endpoint = &ee->ep;
    return 0;
}

void unet_emu_close(struct unet_endpoint *ep)
{
    for (uint32_t n = 1; n < ep->rx_rings; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_emu_disconnect(ep, (uint16_t)n);
    }
    release(emu_of(ep));
}
