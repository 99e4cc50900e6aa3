/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fe.c - opening an endpoint, progress.
 */
#include "fe/user/fe.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

/* ---- progress ---------------------------------------------------------------------- */

static bool fe_is_waiting(const struct fe_endpoint *fe)
{
    return fe->ni.tx.position != fe->ni.ep.tx.position;
}

int unet_fe_service(struct fe_endpoint *fe)
{
    const int count = fe_is_waiting(fe) ? fe->door->service(fe) : 0;

    if (count < 0)
        return 0;
    fe->ni.tx.position += (uint32_t)count;
    return count;
}

void unet_fe_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    fe_of(ep)->door->kick(fe_of(ep));
}

int unet_fe_progress(struct unet_endpoint *ep)
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

/* ---- opening ---------------------------------------------------------------------------- */

struct unet_fe_create unet_fe_wish(const struct unet_config *c)
{
    return (struct unet_fe_create){
        .version = UNET_FE_VERSION,
        .segment_bytes = c->segment_bytes,
        .send_slots = c->send_slots,
        .recv_slots = c->recv_slots,
        .free_slots = c->free_slots,
        .channels = c->channels,
    };
}

int unet_fe_map(struct fe_endpoint *fe, int fd, int flags, const struct unet_fe_create *layout)
{
    const struct unet_config *c = &fe->ni.ep.config;
    struct unet_endpoint *ep = &fe->ni.ep;
    uint8_t *at = mmap(NULL, layout->area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

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

static int fe_open_identity(struct fe_endpoint *fe, const struct unet_fe_create *layout)
{
    memcpy(fe->own.mac, layout->mac, sizeof fe->own.mac);
    fe->own.port = layout->port;
    fe->ni.ep.packet_bytes = layout->packet_bytes;
    if (getrandom(&fe->own.nonce, sizeof fe->own.nonce, 0) != sizeof fe->own.nonce)
        return -EIO;
    unet_ni_set_address(&fe->ni, &fe->own, sizeof fe->own);
    return 0;
}

static void fe_free(struct fe_endpoint *fe)
{
    if (fe->shared)
        munmap(fe->shared, fe->area_bytes);
    fe->door->close(fe);
    unet_fe_ranges_free(fe);
    unet_ni_close(&fe->ni);
}

int unet_fe_open(const struct fe_door *door, const struct unet_config *config,
                 struct unet_endpoint **endpoint)
{
    struct unet_fe_create layout = unet_fe_wish(config);
    struct fe_endpoint *fe;
    struct unet_ni *ni;
    int error = unet_ni_open(door->ops, &door->kind, sizeof *fe, config, &ni);

    if (error)
        return error;
    fe = fe_of(&ni->ep);
    fe->door = door;
    unet_fe_ranges_init(fe);
    fe->fd = fe->epoll = -1;
    ni->ep.capabilities = door->capabilities;
    error = door->open(fe, &layout);
    if (error == 0)
        error = fe_open_identity(fe, &layout);
    if (error) {
        fe_free(fe);
        return error;
    }
    *endpoint = &ni->ep;
    return 0;
}

/* The NI tells the peers. */
void unet_fe_close(struct unet_endpoint *ep)
{
    unet_fe_service(fe_of(ep));
    fe_free(fe_of(ep));
}
