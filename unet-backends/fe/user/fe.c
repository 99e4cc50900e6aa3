/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fe.c - opening an endpoint of the module, progress, sleeping.
 */
#include "fe/user/fe.h"

#include "core/local.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- progress ---------------------------------------------------------------------- */

static bool fe_is_waiting(const struct fe_endpoint *fe)
{
    return fe->ni.tx.position != fe->ni.ep.tx.position;
}

int unet_fe_service(struct fe_endpoint *fe)
{
    int count = fe_is_waiting(fe) ? ioctl(fe->fd, UNET_FE_SEND) : 0;

    if (count < 0)
        return 0;
    fe->ni.tx.position += (uint32_t)count;
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

    if (fe->ni.connecting > 0)
        unet_ni_tell(&fe->ni);
    if (unet_ni_look_is_due(&fe->ni))
        unet_fe_state(ep, 0);
    unet_fe_look(fe);
    return count;
}

/* The module wakes us by making the file readable. */
static int fe_sleep(struct unet_ni *ni, int ms)
{
    struct pollfd bell = {.fd = fe_of(&ni->ep)->fd, .events = POLLIN};

    if (poll(&bell, 1, ms) < 0)
        return -errno;
    if (bell.revents)
        unet_bell_drain(bell.fd);
    return bell.revents != 0;
}

/* ---- opening ---------------------------------------------------------------------------- */

static int fe_open_device(struct fe_endpoint *fe, struct unet_fe_create *layout)
{
    const struct unet_config *c = &fe->ni.ep.config;
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
    strcpy(fe->ni.ep.interface, layout->interface);
    fe->fd = open(UNET_FE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fe->fd < 0)
        return errno == ENOENT || errno == ENXIO ? -ENODEV : -errno;
    return ioctl(fe->fd, UNET_FE_CREATE, layout) < 0 ? -errno : 0;
}

static int fe_open_area(struct fe_endpoint *fe, const struct unet_fe_create *layout)
{
    const struct unet_config *c = &fe->ni.ep.config;
    struct unet_endpoint *ep = &fe->ni.ep;
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

/* A polled endpoint has no descriptor to sleep on. */
static int fe_open_identity(struct fe_endpoint *fe, const struct unet_fe_create *layout)
{
    memcpy(fe->own.mac, layout->mac, sizeof fe->own.mac);
    fe->own.port = layout->port;
    fe->ni.ep.packet_bytes = layout->packet_bytes;
    if (!fe->ni.ep.config.polled)
        fe->ni.ep.fd = fe->ni.ep.bell[0] = fe->ni.ep.bell[1] = fe->fd;
    if (getrandom(&fe->own.nonce, sizeof fe->own.nonce, 0) != sizeof fe->own.nonce)
        return -EIO;
    unet_ni_set_address(&fe->ni, &fe->own, sizeof fe->own);
    return 0;
}

static void fe_free(struct fe_endpoint *fe)
{
    if (fe->shared)
        munmap(fe->shared, fe->area_bytes);
    if (fe->fd >= 0)
        close(fe->fd);
    fe->ni.ep.bell[0] = fe->ni.ep.bell[1] = -1; /* it was the same file */
    unet_fe_ranges_free(fe);
    unet_ni_close(&fe->ni);
}

static const struct unet_ni_kind fe_kind = {
    .link_bytes = sizeof(struct unet_link),
    .memory = UNET_NI_NONE,
    .rings = true,
    .retry_ms = 1,
    .look_ms = 100,
    .sleep = fe_sleep,
    .tell = unet_fe_tell,
};

static int fe_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    struct unet_fe_create layout;
    struct fe_endpoint *fe;
    struct unet_ni *ni;
    int error = unet_ni_open(&unet_fe_ops, &fe_kind, sizeof *fe, config, &ni);

    if (error)
        return error;
    fe = fe_of(&ni->ep);
    fe->fd = -1;
    ni->ep.capabilities = UNET_CAP_REMOTE | UNET_CAP_RANGES;
    error = fe_open_device(fe, &layout);
    if (error == 0)
        error = fe_open_area(fe, &layout);
    if (error == 0)
        error = fe_open_identity(fe, &layout);
    if (error) {
        fe_free(fe);
        return error;
    }
    *endpoint = &ni->ep;
    return 0;
}

/* The module tells the peers. */
static void fe_close(struct unet_endpoint *ep)
{
    unet_fe_service(fe_of(ep));
    fe_free(fe_of(ep));
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
    .address = unet_ni_address,
    .connect = unet_fe_connect,
    .disconnect = unet_fe_disconnect,
    .state = unet_fe_state,
    .kick = fe_kick,
    .progress = fe_progress,
    .wait = unet_ni_wait,
    .ranges = &unet_fe_range_ops,
};
