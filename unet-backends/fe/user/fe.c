/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fe.c - opening an endpoint of the module, progress, waiting.
 */
#include "fe/user/fe.h"

#include "core/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    LOOK_EVERY = 1024, /* calls of progress between two looks for peers that are gone */
    SLICE_MS = 100,    /* of sleep between them */
    RETRY_MS = 1,      /* of sleep, while sends are queued or channels connecting */
    FULL_SLOTS = 4,
};

/* ---- progress ---------------------------------------------------------------------- */

static bool is_waiting(const struct fe_endpoint *fe)
{
    return fe->taken != fe->ep.tx.position;
}

int unet_fe_service(struct fe_endpoint *fe)
{
    int count = is_waiting(fe) ? ioctl(fe->fd, UNET_FE_SEND) : 0;

    if (count < 0)
        return 0;
    fe->taken += (uint32_t)count;
    return count;
}

static void fe_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    unet_fe_service(fe_of(ep));
}

static int fe_progress(struct unet_endpoint *ep)
{
    struct fe_endpoint *fe = fe_of(ep);
    const int count = unet_fe_service(fe);

    if (fe->connecting > 0)
        unet_fe_tell(fe);
    if (++fe->calls % LOOK_EVERY == 0)
        unet_fe_state(ep, 0);
    unet_fe_look(fe);
    return count;
}

static int nap_ms(const struct fe_endpoint *fe, uint64_t now, uint64_t end)
{
    const uint64_t left = end > now ? (end - now + 999) / 1000 : 0;
    const uint64_t most = fe->connecting > 0 || is_waiting(fe) ? RETRY_MS : SLICE_MS;

    return (int)(left < most ? left : most);
}

/* Sleep until the bell rings or the nap is over: 0, or -EINTR. */
static int nap(struct fe_endpoint *fe, int ms)
{
    struct pollfd bell = {.fd = fe->fd, .events = POLLIN};
    int error = 0;

    unet_bell_arm(&fe->ep, UNET_NONEMPTY);
    unet_fe_look(fe);
    if (!unet_rx_peek(&fe->ep) && poll(&bell, 1, ms) < 0)
        error = -errno;
    unet_bell_disarm(&fe->ep);
    if (bell.revents)
        unet_bell_drain(fe->fd);
    return error;
}

/* Also of a caller whose waits are short. */
static void look_after_peers(struct fe_endpoint *fe, uint64_t now)
{
    if (now - fe->looked_us < SLICE_MS * 1000)
        return;
    fe->looked_us = now;
    unet_fe_state(&fe->ep, 0);
}

static int fe_wait(struct unet_endpoint *ep, int timeout_ms)
{
    struct fe_endpoint *fe = fe_of(ep);
    const uint64_t start = unet_now_us();
    const uint64_t end = timeout_ms < 0 ? UINT64_MAX : start + (uint64_t)timeout_ms * 1000;
    const uint32_t changes = fe->changes;

    for (uint64_t now = start;; now = unet_now_us()) {
        int error;

        fe_progress(ep);
        look_after_peers(fe, now);
        if (unet_rx_peek(ep))
            return 1;
        if (now >= end || fe->changes != changes)
            return 0;
        error = nap(fe, nap_ms(fe, now, end));
        if (error)
            return error;
    }
}

/* ---- opening ---------------------------------------------------------------------------- */

static int open_device(struct fe_endpoint *fe, struct unet_fe_create *layout)
{
    const struct unet_config *c = &fe->ep.config;
    int error;

    *layout = (struct unet_fe_create){
        .version = UNET_FE_VERSION,
        .segment_bytes = c->segment_bytes,
        .send_slots = c->send_slots,
        .recv_slots = c->recv_slots,
        .free_slots = c->free_slots,
        .channels = c->channels,
    };
    error = unet_local_interface(unet_local_wish("auto"), layout->interface);
    if (error)
        return error;
    strcpy(fe->ep.interface, layout->interface);
    fe->fd = open(UNET_FE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fe->fd < 0)
        return errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
    return ioctl(fe->fd, UNET_FE_CREATE, layout) < 0 ? -errno : 0;
}

static int open_area(struct fe_endpoint *fe, const struct unet_fe_create *layout)
{
    const struct unet_config *c = &fe->ep.config;
    struct unet_endpoint *ep = &fe->ep;
    uint8_t *at = mmap(NULL, layout->area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                       fe->fd, 0);

    if (at == MAP_FAILED)
        return -errno;
    fe->shared = (struct unet_fe_shared *)at;
    fe->area_bytes = layout->area_bytes;
    ep->armed = &fe->shared->armed;
    ep->segment = at + layout->segment;
    unet_ring_attach(&ep->tx, at + layout->send, c->send_slots);
    unet_ring_attach(&ep->free, at + layout->free, c->free_slots);
    unet_ring_attach(&ep->rx[0], at + layout->errors, c->send_slots);
    for (uint32_t n = 1; n <= c->channels; n++)
        unet_ring_attach(&ep->rx[n], at + layout->receive + (n - 1) * layout->receive_stride,
                         c->recv_slots);
    return 0;
}

static int open_full(struct fe_endpoint *fe)
{
    fe->full_memory = aligned_alloc(128, unet_ring_bytes(FULL_SLOTS));
    if (!fe->full_memory)
        return -ENOMEM;
    memset(fe->full_memory, 0, unet_ring_bytes(FULL_SLOTS));
    unet_ring_attach(&fe->full, fe->full_memory, FULL_SLOTS);
    fe->full.position = 1u << 31; /* more than a ring ahead: full, whatever `consumed` says */
    return 0;
}

static int open_tables(struct fe_endpoint *fe)
{
    const uint32_t n = fe->ep.config.channels + 1;
    struct unet_endpoint *ep = &fe->ep;

    ep->channel = calloc(n, sizeof *ep->channel);
    ep->rx = calloc(n, sizeof *ep->rx);
    fe->link = calloc(n, sizeof *fe->link);
    if (!ep->channel || !ep->rx || !fe->link)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        ep->channel[i] = (struct unet_channel){
            .ring = &fe->full,
            .bell = &fe->always,
            .number = (uint16_t)i,
            .number_in_ring = (uint16_t)i,
        };
    }
    ep->rx_rings = 1;
    return open_full(fe);
}

/* Who cannot sleep needs no descriptors for it. */
static int open_identity(struct fe_endpoint *fe, const struct unet_fe_create *layout)
{
    memcpy(fe->own.mac, layout->mac, sizeof fe->own.mac);
    fe->own.port = layout->port;
    fe->ep.packet_bytes = layout->packet_bytes;
    if (!fe->ep.config.polled)
        fe->ep.fd = fe->ep.bell[0] = fe->ep.bell[1] = fe->fd;
    if (getrandom(&fe->own.nonce, sizeof fe->own.nonce, 0) != sizeof fe->own.nonce)
        return -EIO;
    return 0;
}

static void release(struct fe_endpoint *fe)
{
    if (fe->shared)
        munmap(fe->shared, fe->area_bytes);
    if (fe->fd >= 0)
        close(fe->fd);
    unet_fe_ranges_free(fe);
    free(fe->full_memory);
    free(fe->link);
    free(fe->ep.rx);
    free(fe->ep.channel);
    free(fe);
}

static int fe_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    struct fe_endpoint *fe = aligned_alloc(64, sizeof *fe);
    struct unet_fe_create layout;
    int error;

    if (!fe)
        return -ENOMEM;
    *fe = (struct fe_endpoint){
        .ep = {.ops = &unet_fe_ops,
               .config = *config,
               .capabilities = UNET_CAP_REMOTE | UNET_CAP_RANGES,
               .fd = -1,
               .bell = {-1, -1}},
        .fd = -1,
        .always = 1,
    };
    error = open_tables(fe);
    if (error == 0)
        error = open_device(fe, &layout);
    if (error == 0)
        error = open_area(fe, &layout);
    if (error == 0)
        error = open_identity(fe, &layout);
    if (error) {
        release(fe);
        return error;
    }
    *endpoint = &fe->ep;
    return 0;
}

/* The module tells the peers. */
static void fe_close(struct unet_endpoint *ep)
{
    unet_fe_service(fe_of(ep));
    release(fe_of(ep));
}

static void fe_address(const struct unet_endpoint *ep, struct unet_address *address)
{
    const struct fe_endpoint *fe = (const struct fe_endpoint *)ep;

    address->length = sizeof fe->own;
    memcpy(address->bytes, &fe->own, sizeof fe->own);
}

static const struct unet_remedy fe_remedies[] = {
    {-ENODEV, "the kernel module has to be loaded on every node (modprobe unet_fe), "
              "and " UNET_INTERFACE_NAMES "an interface of every node, or be auto"},
    {-EACCES, "who is in the group unet may open /dev/unet, if docs/unet_fe.md was followed"},
    {-ENOBUFS, "the limit of locked memory is too low: ulimit -l"},
    {-EDQUOT, "the module's limits (max_endpoints, max_megabytes) are too low: see unet(4)"},
    {0, NULL}};

const struct unet_ops unet_fe_ops = {
    .name = "fe",
    .network = true,
    .remedies = fe_remedies,
    .open = fe_open,
    .close = fe_close,
    .address = fe_address,
    .connect = unet_fe_connect,
    .disconnect = unet_fe_disconnect,
    .state = unet_fe_state,
    .kick = fe_kick,
    .progress = fe_progress,
    .wait = fe_wait,
    .ranges = &unet_fe_range_ops,
};
