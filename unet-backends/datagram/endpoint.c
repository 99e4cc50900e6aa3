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

void unet_datagram_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    unet_datagram_service(datagram_of(ep));
}

int unet_datagram_receive(struct datagram_endpoint *de)
{
    const int count = de->transport->receive(de);

    if (count > 0 && de->ep.upcall)
        unet_upcall_arrived(&de->ep);
    return count;
}

int unet_datagram_progress(struct unet_endpoint *ep)
{
    struct datagram_endpoint *de = datagram_of(ep);
    int count = unet_datagram_service(de);

    if (de->connecting > 0)
        unet_datagram_tell(de);
    if (++de->calls % LOOK_EVERY == 0)
        unet_datagram_look(de);
    return count + unet_datagram_receive(de);
}

static int nap_ms(const struct datagram_endpoint *de, uint64_t now, uint64_t end)
{
    const uint64_t left = end > now ? (end - now + 999) / 1000 : 0;
    const bool busy = de->connecting > 0 || de->tx.position != de->ep.tx.position;
    const uint64_t most = busy ? RETRY_MS : SLICE_MS;

    return (int)(left < most ? left : most);
}

int unet_datagram_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct datagram_endpoint *de = datagram_of(ep);
    const uint64_t start = unet_now_us();
    const uint64_t end = timeout_ms < 0 ? UINT64_MAX : start + (uint64_t)timeout_ms * 1000;
    const uint32_t changes = de->changes;

    for (uint64_t now = start;; now = unet_now_us()) {
        struct pollfd fd = {.fd = de->socket, .events = POLLIN};

        unet_datagram_progress(ep);
        if (unet_rx_peek(ep))
            return 1;
        if (now >= end || de->changes != changes)
            return 0;
        if (poll(&fd, 1, nap_ms(de, now, end)) < 0)
            return -errno;
        if (fd.revents != POLLIN)
            unet_datagram_state(ep, 0);
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

static int open_memory(struct datagram_endpoint *de)
{
    const struct unet_config *c = &de->ep.config;
    struct unet_endpoint *ep = &de->ep;
    uint8_t *at;

    de->memory_bytes = c->segment_bytes + 2 * unet_ring_bytes(c->send_slots) +
                       unet_ring_bytes(c->free_slots) + unet_ring_bytes(4) +
                       unet_ring_bytes(c->recv_slots) * c->channels;
    at = mmap(NULL, de->memory_bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    de->memory = at;
    ep->segment = carve(&at, c->segment_bytes);
    make_ring(&at, c->send_slots, &ep->tx, &de->tx);
    make_ring(&at, c->send_slots, &ep->rx[0], &de->errors);
    make_ring(&at, c->free_slots, &ep->free, &de->free);
    unet_ring_attach(&de->full, carve(&at, unet_ring_bytes(4)), 4);
    de->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    for (uint32_t n = 1; n <= c->channels; n++)
        make_ring(&at, c->recv_slots, &ep->rx[n], &de->link[n].in);
    return 0;
}

static int open_tables(struct datagram_endpoint *de)
{
    const uint32_t n = de->ep.config.channels + 1;
    struct unet_endpoint *ep = &de->ep;
    uint32_t buckets = 1;

    while (buckets < n)
        buckets *= 2;
    de->bucket_mask = buckets - 1;
    de->bucket = calloc(buckets, sizeof *de->bucket);
    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    de->link = calloc(n, sizeof *de->link);
    if (!de->bucket || !ep->channel || !ep->rx || !de->link)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &de->full,
            .bell = &de->always,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
    }
    ep->rx_rings = 1;
    return 0;
}

static int open_socket(struct datagram_endpoint *de)
{
    if (getrandom(&de->nonce, sizeof de->nonce, 0) != sizeof de->nonce)
        return -EIO;
    return de->transport->bind(de);
}

static void release(struct datagram_endpoint *de)
{
    de->transport->unbind(de);
    unet_bell_close(de->ep.bell);
    if (de->memory)
        munmap(de->memory, de->memory_bytes);
    free(de->link);
    free(de->ep.rx);
    free(de->ep.channel);
    free(de->bucket);
    free(de);
}

static struct datagram_endpoint *new_endpoint(const struct datagram_transport *transport,
                                              const struct unet_config *config)
{
    const size_t bytes = (transport->bytes + 63) / 64 * 64;
    struct datagram_endpoint *de = aligned_alloc(64, bytes);

    if (!de)
        return NULL;
    memset(de, 0, bytes);
    de->transport = transport;
    de->socket = -1;
    de->always = 1;
    de->ep.ops = transport->ops;
    de->ep.config = *config;
    de->ep.capabilities = UNET_CAP_REMOTE;
    de->ep.armed = &de->armed;
    de->ep.fd = -1;
    de->ep.bell[0] = de->ep.bell[1] = -1;
    return de;
}

int unet_datagram_open(const struct datagram_transport *transport, const struct unet_config *config,
                       struct unet_endpoint **endpoint)
{
    struct datagram_endpoint *de = new_endpoint(transport, config);
    int error;

    if (!de)
        return -ENOMEM;
    error = open_tables(de);
    if (error == 0)
        error = open_memory(de);
    if (error == 0)
        error = open_socket(de);
    if (error) {
        release(de);
        return error;
    }
    if (!config->polled) {
        de->ep.fd = de->socket;
        de->ep.wired = true;
    }
    *endpoint = &de->ep;
    return 0;
}

void unet_datagram_close(struct unet_endpoint *ep)
{
    for (uint32_t n = 1; n < ep->rx_rings; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_datagram_disconnect(ep, (uint16_t)n);
    }
    release(datagram_of(ep));
}
