/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet.c - endpoints and channels: arguments are checked here, once for all backends.
 */
#include "core/core.h"

#include <errno.h>
#include <string.h>

static const struct unet_ops *const backends[] = {&unet_loopback_ops, &unet_shm_ops, &unet_udp_ops,
                                                  &unet_eth_ops,      &unet_fe_ops,  &unet_mux_ops,
                                                  &unet_ofi_ops,      &unet_ni_ops,  &unet_atm_ops};

const struct unet_ops *unet_backend_at(unsigned i)
{
    return i < sizeof backends / sizeof *backends ? backends[i] : NULL;
}

const struct unet_ops *unet_backend(const char *name)
{
    const struct unet_ops *ops;

    for (unsigned i = 0; (ops = unet_backend_at(i)); i++) {
        if (strcmp(ops->name, name) == 0)
            return ops;
    }
    return NULL;
}

const char *unet_remedy(const struct unet_ops *backend, int error)
{
    for (const struct unet_remedy *r = backend->remedies; r && r->text; r++)
        if (r->error == error)
            return r->text;
    return "";
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct unet_config default_config = {
    .segment_bytes = UNET_SEGMENT_DEFAULT,
    .send_slots = 64,
    .recv_slots = 128,
    .free_slots = 256,
    .channels = 64,
};

static void config_fill(uint32_t *field, uint32_t value)
{
    if (*field == 0)
        *field = value;
}

static bool config_slots_ok(uint32_t slots)
{
    return slots >= 4 && slots <= 65536 && (slots & (slots - 1)) == 0;
}

static bool config_ok(const struct unet_config *c)
{
    return c->segment_bytes % 4096 == 0 && config_slots_ok(c->send_slots) &&
           config_slots_ok(c->recv_slots) && config_slots_ok(c->free_slots) && c->channels <= 65535;
}

int unet_config_complete(struct unet_config *c)
{
    config_fill(&c->segment_bytes, default_config.segment_bytes);
    config_fill(&c->send_slots, default_config.send_slots);
    config_fill(&c->recv_slots, default_config.recv_slots);
    config_fill(&c->free_slots, default_config.free_slots);
    config_fill(&c->channels, default_config.channels);
    return config_ok(c) ? 0 : -EINVAL;
}

int unet_open(const struct unet_ops *backend, const struct unet_config *config,
              struct unet_endpoint **endpoint)
{
    struct unet_config c = config ? *config : default_config;
    const int error = unet_config_complete(&c);

    return error ? error : backend->open(&c, endpoint);
}

void unet_close(struct unet_endpoint *ep)
{
    if (!ep)
        return;
    unet_upcall(ep, UNET_UPCALL_NONE, 0, NULL, NULL);
    ep->ops->close(ep);
}

void unet_address(const struct unet_endpoint *ep, struct unet_address *address)
{
    memset(address, 0, sizeof *address);
    ep->ops->address(ep, address);
}

/* ---- channels -------------------------------------------------------------- */

int unet_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                 uint16_t *channel)
{
    if (peer->length > UNET_ADDRESS_MAX)
        return -EADDRNOTAVAIL;
    return ep->ops->connect(ep, peer, tag, channel);
}

int unet_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    if (!unet_is_channel(ep, channel) || ep->channel[channel].state == UNET_CLOSED)
        return -EINVAL;
    ep->ops->disconnect(ep, channel);
    return 0;
}

enum unet_channel_state unet_channel_state(struct unet_endpoint *ep, uint16_t channel)
{
    if (!unet_is_channel(ep, channel))
        return UNET_CLOSED;
    if (ep->channel[channel].state != UNET_CLOSED)
        ep->ops->state(ep, channel);
    return (enum unet_channel_state)ep->channel[channel].state;
}

void unet_refuse(struct unet_endpoint *ep, struct unet_ring *errors, const struct unet_desc *desc,
                 int error)
{
    struct unet_desc *slot = unet_ring_reserve(errors);

    ep->stats.bad_descriptors++;
    if (!slot) {
        ep->stats.errors_lost++;
        return;
    }
    slot->channel = desc->channel;
    slot->kind = UNET_ERROR;
    slot->pieces = 0;
    slot->length = desc->length;
    slot->user = desc->user;
    slot->error = (uint32_t)-error;
    unet_ring_submit(errors);
    unet_rx_mark_filled(ep, 0);
    ep->delivered++;
}
