/* SPDX-License-Identifier: BSD-3-Clause
 *
 * chaos.c - a bad network between an endpoint and its peers.
 *
 * The decorator stands at the sending side: it has a send queue of its own, whose messages go on,
 * or do not, as copies in buffers behind the user's part of the inner endpoint's segment.  What
 * arrives is read from the inner endpoint's rings.
 */
#include "core/core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unet/unet_chaos.h>
#include <unet/unet_ni.h>

enum {
    COPIES = 32,         /* messages on their way through here */
    OVERTAKEN_BY = 8,    /* at most that many sends, or looks, pass before a held message goes */
    PACKET_BYTES = 1472, /* what a layer above should take for one packet */
    HELD_MS = 1,         /* of sleep, while messages are held */
};

/* A buffer of the inner segment. */
struct copy {
    struct unet_desc desc; /* what goes on when `wait` comes to 0 */
    uint32_t wait;
    uint32_t ticket;
    bool on_its_way; /* the inner endpoint may still read it */
};

struct chaos_endpoint {
    struct unet_ni ni; /* first */
    struct unet_endpoint *inner;
    struct unet_chaos chaos;
    uint64_t random;
    uint32_t held; /* copies with `wait` */
    struct copy copy[COPIES];
};

static struct chaos_endpoint *chaos_of(struct unet_endpoint *ep)
{
    return (struct chaos_endpoint *)ep;
}

/* ---- chance -------------------------------------------------------------------- */

/* splitmix64 */
static uint64_t chaos_random(struct chaos_endpoint *ce)
{
    return unet_mix(ce->random += 0x9e3779b97f4a7c15u);
}

static bool chaos_happens(struct chaos_endpoint *ce, double probability)
{
    return probability > 0 && (double)(chaos_random(ce) >> 11) * 0x1p-53 < probability;
}

/* ---- copies ----------------------------------------------------------------------- */

static uint32_t copy_offset(const struct chaos_endpoint *ce, const struct copy *copy)
{
    return ce->ni.ep.config.segment_bytes + (uint32_t)(copy - ce->copy) * UNET_MESSAGE_MAX;
}

static uint8_t *copy_bytes(const struct chaos_endpoint *ce, struct copy *copy)
{
    if (copy->desc.kind == UNET_INLINE)
        return copy->desc.data;
    return ce->inner->segment + copy_offset(ce, copy);
}

/* NULL: all are in use. */
static struct copy *unused_copy(struct chaos_endpoint *ce)
{
    for (struct copy *copy = ce->copy; copy < ce->copy + COPIES; copy++) {
        if (copy->on_its_way && unet_sent(ce->inner, copy->ticket))
            copy->on_its_way = false;
        if (!copy->on_its_way && copy->wait == 0)
            return copy;
    }
    return NULL;
}

static void copy_gather(const struct chaos_endpoint *ce, struct copy *copy,
                        const struct unet_desc *desc)
{
    uint8_t *to = copy_bytes(ce, copy);

    for (uint32_t i = 0; i < desc->pieces; i++) {
        memcpy(to, ce->ni.ep.segment + desc->piece[i].offset, desc->piece[i].length);
        to += desc->piece[i].length;
    }
    copy->desc.pieces = 1;
    copy->desc.piece[0] = (struct unet_piece){copy_offset(ce, copy), desc->length};
}

/* What finds no room in the inner endpoint is lost. */
static void copy_let_go(struct chaos_endpoint *ce, struct copy *copy)
{
    if (unet_push(ce->inner, &copy->desc, &copy->ticket) == 0)
        copy->on_its_way = copy->desc.kind == UNET_PIECES;
}

static void copy_damage(struct chaos_endpoint *ce, struct copy *copy)
{
    struct unet_desc *desc = &copy->desc;

    if (desc->length > 1 && chaos_happens(ce, ce->chaos.truncate)) {
        desc->length = 1 + (uint32_t)(chaos_random(ce) % (desc->length - 1));
        if (desc->kind == UNET_PIECES)
            desc->piece[0].length = desc->length;
    }
    if (desc->length > 0 && chaos_happens(ce, ce->chaos.flip)) {
        const uint64_t bit = chaos_random(ce) % (8 * desc->length);

        copy_bytes(ce, copy)[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void chaos_send_copy(struct chaos_endpoint *ce, const struct unet_desc *desc)
{
    struct copy *copy = unused_copy(ce);

    if (!copy)
        return;
    copy->desc = *desc;
    if (desc->kind == UNET_PIECES)
        copy_gather(ce, copy, desc);
    copy_damage(ce, copy);
    if (chaos_happens(ce, ce->chaos.reorder)) {
        copy->wait = 1 + (uint32_t)(chaos_random(ce) % OVERTAKEN_BY);
        ce->held++;
    } else {
        copy_let_go(ce, copy);
    }
}

/* One more send or look has passed those that are held. */
static void chaos_pass_held(struct chaos_endpoint *ce)
{
    for (struct copy *copy = ce->copy; ce->held > 0 && copy < ce->copy + COPIES; copy++) {
        if (copy->wait > 0 && --copy->wait == 0) {
            ce->held--;
            copy_let_go(ce, copy);
        }
    }
}

/* ---- the send queue ------------------------------------------------------------------ */

static bool chaos_is_message(const struct chaos_endpoint *ce, const struct unet_desc *desc)
{
    if (unet_not_open(ce->inner, desc->channel) != 0)
        return false;
    if (desc->kind == UNET_INLINE)
        return desc->length <= UNET_INLINE_MAX;
    return desc->kind == UNET_PIECES &&
           unet_check_pieces(desc, ce->ni.ep.config.segment_bytes) == 0;
}

/* Let the inner endpoint refuse the descriptor.  A piece that lies outside the user's part of the
 * segment may lie within the inner one, so it is replaced by one that cannot. */
static void chaos_refuse(struct chaos_endpoint *ce, struct unet_desc desc)
{
    if (desc.kind == UNET_PIECES &&
        unet_check_pieces(&desc, ce->ni.ep.config.segment_bytes) == -EFAULT)
        desc.piece[0] = (struct unet_piece){UINT32_MAX, 1};
    unet_push(ce->inner, &desc, NULL);
}

static void chaos_send_on(struct chaos_endpoint *ce, const struct unet_desc *desc)
{
    if (!chaos_is_message(ce, desc)) {
        chaos_refuse(ce, *desc);
        return;
    }
    chaos_pass_held(ce);
    if (!chaos_happens(ce, ce->chaos.loss))
        chaos_send_copy(ce, desc);
    if (chaos_happens(ce, ce->chaos.duplicate))
        chaos_send_copy(ce, desc);
}

static int chaos_service(struct chaos_endpoint *ce)
{
    const struct unet_desc *slot;
    int count = 0;

    while ((slot = unet_ring_peek(&ce->ni.tx)) != NULL) {
        const struct unet_desc desc = *slot;

        chaos_send_on(ce, &desc);
        unet_ring_release(&ce->ni.tx);
        count++;
    }
    return count;
}

/* ---- channels ------------------------------------------------------------------------- */

/* Show the inner endpoint's channel as ours. */
static void chaos_mirror(struct chaos_endpoint *ce, uint16_t n)
{
    const uint8_t state = ce->inner->channel[n].state;

    if (ce->ni.ep.channel[n].state != state)
        unet_ni_set_state(&ce->ni, n, (enum unet_channel_state)state);
    ce->ni.ep.rx_rings = ce->inner->rx_rings;
}

static void chaos_mirror_all(struct chaos_endpoint *ce)
{
    for (uint32_t n = 1; n < ce->inner->rx_rings; n++)
        chaos_mirror(ce, (uint16_t)n);
}

static int chaos_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                         uint16_t *channel)
{
    struct chaos_endpoint *ce = chaos_of(ep);
    int error = ce->inner->ops->connect(ce->inner, peer, tag, channel);

    if (error)
        return error;
    chaos_mirror(ce, *channel);
    return 0;
}

static void chaos_forget_held(struct chaos_endpoint *ce, uint16_t channel)
{
    for (struct copy *copy = ce->copy; copy < ce->copy + COPIES; copy++) {
        if (copy->wait > 0 && copy->desc.channel == channel) {
            copy->wait = 0;
            ce->held--;
        }
    }
}

static void chaos_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct chaos_endpoint *ce = chaos_of(ep);

    chaos_forget_held(ce, channel);
    ce->inner->ops->disconnect(ce->inner, channel);
    chaos_mirror(ce, channel);
}

static void chaos_state(struct unet_endpoint *ep, uint16_t channel)
{
    struct chaos_endpoint *ce = chaos_of(ep);

    ce->inner->ops->state(ce->inner, channel);
    chaos_mirror_all(ce);
}

static void chaos_address(const struct unet_endpoint *ep, struct unet_address *address)
{
    const struct chaos_endpoint *ce = (const struct chaos_endpoint *)ep;

    ce->inner->ops->address(ce->inner, address);
}

/* ---- progress --------------------------------------------------------------------------- */

static void chaos_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    chaos_service(chaos_of(ep));
}

static int chaos_progress(struct unet_endpoint *ep)
{
    struct chaos_endpoint *ce = chaos_of(ep);
    int count = chaos_service(ce);

    chaos_pass_held(ce);
    count += ce->inner->ops->progress(ce->inner);
    chaos_mirror_all(ce);
    return count;
}

/* The inner endpoint notices whatever happens, so its own wait is what sleeping means here. */
static int chaos_sleep(struct unet_ni *ni, int ms)
{
    struct chaos_endpoint *ce = chaos_of(&ni->ep);

    return ce->inner->ops->wait(ce->inner, ce->held > 0 && ms > HELD_MS ? HELD_MS : ms);
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool is_probability(double p)
{
    return p >= 0 && p <= 1;
}

static bool chaos_ok(const struct unet_chaos *c)
{
    return is_probability(c->loss) && is_probability(c->duplicate) && is_probability(c->reorder) &&
           is_probability(c->truncate) && is_probability(c->flip);
}

static const struct unet_ni_kind chaos_kind = {
    .memory = UNET_NI_SEND,
    .sleep = chaos_sleep,
};

/* The send queue and the channels are our own; the rest is the inner endpoint's. */
static void chaos_borrow(struct chaos_endpoint *ce)
{
    struct unet_endpoint *ep = &ce->ni.ep;
    const struct unet_endpoint own = *ep;

    free(own.rx);
    *ep = *ce->inner;
    ep->ops = own.ops;
    ep->config = own.config;
    ep->channel = own.channel;
    ep->tx = own.tx;
    ep->capabilities &=
        ~(uint32_t)(UNET_CAP_RELIABLE | UNET_CAP_ORDERED | UNET_CAP_DIRECT | UNET_CAP_RANGES);
    ep->packet_bytes = PACKET_BYTES;
}

static void chaos_give_back(struct chaos_endpoint *ce)
{
    struct unet_endpoint *ep = &ce->ni.ep;

    ep->rx = NULL;
    if (ep->bell[0] == ce->inner->bell[0])
        ep->bell[0] = ep->bell[1] = -1;
}

static void chaos_close(struct unet_endpoint *ep)
{
    struct chaos_endpoint *ce = chaos_of(ep);

    chaos_give_back(ce);
    unet_close(ce->inner);
    unet_ni_close(&ce->ni);
}

/* It is never opened by name, because it needs a struct unet_chaos. */
static int chaos_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    (void)config;
    (void)endpoint;
    return -EOPNOTSUPP;
}

static const struct unet_ops chaos_ops = {
    .name = "chaos",
    .open = chaos_open,
    .close = chaos_close,
    .address = chaos_address,
    .connect = chaos_connect,
    .disconnect = chaos_disconnect,
    .state = chaos_state,
    .kick = chaos_kick,
    .progress = chaos_progress,
    .wait = unet_ni_wait,
};

static int chaos_decorate(struct unet_endpoint *inner, const struct unet_chaos *chaos,
                          struct unet_endpoint **endpoint)
{
    struct unet_config config = inner->config;
    struct chaos_endpoint *ce;
    struct unet_ni *ni;
    int error;

    config.segment_bytes -= COPIES * UNET_MESSAGE_MAX;
    error = unet_ni_open(&chaos_ops, &chaos_kind, sizeof *ce, &config, &ni);
    if (error)
        return error;
    ce = chaos_of(&ni->ep);
    ce->inner = inner;
    ce->chaos = *chaos;
    ce->random = chaos->seed;
    chaos_borrow(ce);
    *endpoint = &ni->ep;
    return 0;
}

int unet_chaos_open(const struct unet_ops *backend, const struct unet_chaos *chaos,
                    const struct unet_config *config, struct unet_endpoint **endpoint)
{
    struct unet_config larger = config ? *config : (struct unet_config){0};
    struct unet_endpoint *inner;
    int error;

    if (!chaos_ok(chaos))
        return -EINVAL;
    if (larger.segment_bytes == 0)
        larger.segment_bytes = UNET_SEGMENT_DEFAULT;
    if (__builtin_add_overflow(larger.segment_bytes, COPIES * UNET_MESSAGE_MAX,
                               &larger.segment_bytes))
        return -EINVAL;
    error = unet_open(backend, &larger, &inner);
    if (error)
        return error;
    error = chaos_decorate(inner, chaos, endpoint);
    if (error)
        unet_close(inner);
    return error;
}
