/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.c - channels between lane endpoints: connecting, noticing the end,
 * disconnecting.
 *
 * Each side offers the other a lane, under a key that only who knows the tag can make,
 * and looks for the lane that the other offers it.  A channel is open when its
 * side has found one.
 */
#include "shared_memory/shared_memory.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

/* ---- noticing ---------------------------------------------------------------- */

static bool process_ended(const struct lane_peer *peer)
{
    struct pollfd process = {.fd = peer->process, .events = POLLIN};

    return peer->process >= 0 && poll(&process, 1, 0) > 0;
}

static void unwatch(struct lane_endpoint *le, struct lane_link *link)
{
    if (link->peer.process >= 0)
        epoll_ctl(le->epoll, EPOLL_CTL_DEL, link->peer.process, NULL);
}

static void set_state(struct lane_endpoint *le, uint16_t channel, enum unet_channel_state state)
{
    struct unet_channel *ch = &le->ep.channel[channel];

    le->connecting += (state == UNET_CONNECTING) - (ch->state == UNET_CONNECTING);
    le->opened += state == UNET_OPEN;
    le->died += state == UNET_DEAD;
    ch->state = (uint8_t)state;
    unet_lane_aim(le, channel);
}

static void stop_sending(struct lane_link *link)
{
    if (link->out_lane)
        unet_lane_detach(&link->peer.area, link->out_lane, link->out_generation);
    link->out_lane = 0;
}

void unet_lane_set_dead(struct lane_endpoint *le, uint16_t channel)
{
    uint8_t state = le->ep.channel[channel].state;

    if (state != UNET_OPEN && state != UNET_CONNECTING)
        return;
    stop_sending(&le->link[channel]);
    unwatch(le, &le->link[channel]);
    set_state(le, channel, UNET_DEAD);
}

/* The peer closed its endpoint, or its side of the channel. */
static bool peer_closed(const struct lane_endpoint *le, uint16_t channel)
{
    const struct lane_link *link = &le->link[channel];
    const struct lane_area *area = &link->peer.area;

    if (__atomic_load_n(&area->header->closed, __ATOMIC_ACQUIRE))
        return true;
    if (link->out_lane &&
        unet_lane_state(area, link->out_lane, link->out_generation) != LANE_ATTACHED)
        return true;
    return unet_lane_state(&le->own, channel, link->generation) == LANE_DETACHED;
}

static void notice_closed(struct lane_endpoint *le, uint16_t channel)
{
    uint8_t state = le->ep.channel[channel].state;

    if ((state == UNET_OPEN || state == UNET_CONNECTING) && peer_closed(le, channel))
        unet_lane_set_dead(le, channel);
}

void unet_lane_find_closed(struct lane_endpoint *le)
{
    for (uint32_t n = 1; n < le->ep.rx_rings; n++)
        notice_closed(le, (uint16_t)n);
}

/* ---- opening ------------------------------------------------------------------- */

static void try_open(struct lane_endpoint *le, uint16_t channel)
{
    struct lane_link *link = &le->link[channel];
    const struct lane_area *area = &link->peer.area;
    uint32_t offers = __atomic_load_n(&area->header->offers, __ATOMIC_ACQUIRE);

    if (le->ep.channel[channel].state != UNET_CONNECTING || offers == link->offers_seen)
        return;
    link->offers_seen = offers;
    link->out_lane = (uint16_t)unet_lane_attach(area, link->key_out, &link->out_generation);
    if (!link->out_lane)
        return;
    unet_ring_attach(&link->out, lane_ring(area, link->out_lane), area->recv_slots);
    set_state(le, channel, UNET_OPEN);
}

void unet_lane_find_opened(struct lane_endpoint *le)
{
    for (uint32_t n = 1; le->connecting > 0 && n < le->ep.rx_rings; n++) {
        if (le->ep.channel[n].state == UNET_CONNECTING)
            try_open(le, (uint16_t)n);
    }
}

void unet_lane_update(struct unet_endpoint *ep, uint16_t channel)
{
    struct lane_endpoint *le = lane_endpoint(ep);

    if (channel == 0) {
        unet_lane_find_opened(le);
        unet_lane_find_closed(le);
        unet_lane_sleep(le, 0);
        return;
    }
    try_open(le, channel);
    notice_closed(le, channel);
    if (process_ended(&le->link[channel].peer))
        unet_lane_set_dead(le, channel);
}

/* ---- connecting -------------------------------------------------------------- */

void unet_lane_drop_peer(struct lane_endpoint *le, uint16_t channel)
{
    struct lane_link *link = &le->link[channel];
    uint32_t queued = link->queued;
    uint32_t generation = link->generation + 1;

    if (!link->peer.area.header)
        return;
    unwatch(le, link);
    le->transport->leave(&link->peer);
    *link = (struct lane_link){.queued = queued, .generation = generation};
}

/* A closed channel can be opened anew when nothing of its past can come up any
 * more: no queued descriptor, no sender in its lane. */
static bool reusable(struct lane_endpoint *le, uint16_t channel)
{
    struct lane_link *link = &le->link[channel];

    if (le->ep.channel[channel].state != UNET_CLOSED || link->queued > 0)
        return false;
    if (!link->peer.area.header)
        return true;
    if (!unet_lane_withdraw(&le->own, channel, link->generation) && !process_ended(&link->peer))
        return false;
    unet_lane_drop_peer(le, channel);
    return true;
}

/* A number for a new channel, or 0. */
static uint16_t choose_number(struct lane_endpoint *le)
{
    for (uint32_t n = 1; n <= le->ep.config.channels; n++) {
        if (reusable(le, (uint16_t)n))
            return (uint16_t)n;
    }
    return 0;
}

static bool is_open_already(const struct lane_endpoint *le, uint64_t key_out)
{
    for (uint32_t n = 1; n < le->ep.rx_rings; n++) {
        if (le->ep.channel[n].state != UNET_CLOSED && le->link[n].key_out == key_out)
            return true;
    }
    return false;
}

static int set_up(struct lane_endpoint *le, const struct lane_peer *peer, uint64_t tag,
                  uint16_t *channel)
{
    uint64_t key_out = unet_lane_key(tag, le->own.nonce, peer->area.nonce);
    struct lane_link *link;
    uint16_t n;
    int error;

    if (is_open_already(le, key_out))
        return -EEXIST;
    n = choose_number(le);
    if (n == 0)
        return -ENOSPC;
    error = peer->process >= 0 ? unet_lane_watch(le, peer->process, n) : 0;
    if (error)
        return error;
    link = &le->link[n];
    link->peer = *peer;
    link->key_out = key_out;
    link->key_in = unet_lane_key(tag, peer->area.nonce, le->own.nonce);
    *channel = n;
    return 0;
}

int unet_lane_connect(struct unet_endpoint *ep, const struct unet_address *address, uint64_t tag,
                      uint16_t *channel)
{
    struct lane_endpoint *le = lane_endpoint(ep);
    struct lane_peer peer;
    struct lane_link *link;
    uint16_t n;
    int error = le->transport->reach(address, &peer);

    if (error)
        return error;
    error = set_up(le, &peer, tag, &n);
    if (error) {
        le->transport->leave(&peer);
        return error;
    }
    link = &le->link[n];
    set_state(le, n, UNET_CONNECTING);
    unet_lane_offer(&le->own, n, link->generation, link->key_in);
    unet_ring_attach(&ep->rx[n], lane_ring(&le->own, n), ep->config.recv_slots);
    if (n >= ep->rx_rings)
        ep->rx_rings = n + 1u;
    unet_lane_wake(le, n); /* it may be waiting for this offer */
    try_open(le, n);
    *channel = n;
    return 0;
}

/* ---- disconnecting ---------------------------------------------------------------- */

static void stop_receiving(struct lane_endpoint *le, uint16_t channel)
{
    struct unet_endpoint *ep = &le->ep;

    ep->rx[channel] = le->silent;
    while (ep->rx_rings > 1 && ep->channel[ep->rx_rings - 1].state == UNET_CLOSED)
        ep->rx_rings--;
    if (ep->rx_next >= ep->rx_rings)
        ep->rx_next = 0;
}

void unet_lane_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct lane_endpoint *le = lane_endpoint(ep);
    struct lane_link *link = &le->link[channel];
    bool withdrawn;

    stop_sending(link);
    unwatch(le, link);
    set_state(le, channel, UNET_CLOSED);
    stop_receiving(le, channel);
    withdrawn = unet_lane_withdraw(&le->own, channel, link->generation);
    unet_lane_wake(le, channel);
    if (withdrawn)
        unet_lane_drop_peer(le, channel);
    unet_lane_service(le); /* refuse what is queued for it */
}
