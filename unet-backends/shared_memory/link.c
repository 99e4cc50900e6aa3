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

bool unet_sm_has_ended(int process)
{
    struct pollfd p = {.fd = process, .events = POLLIN};

    return process >= 0 && poll(&p, 1, 0) > 0;
}

static void sm_peer_unwatch(struct sm_endpoint *se, struct sm_link *link)
{
    if (link->peer.process >= 0)
        epoll_ctl(se->epoll, EPOLL_CTL_DEL, link->peer.process, NULL);
}

static void sm_channel_set_state(struct sm_endpoint *se, uint16_t channel,
                                 enum unet_channel_state state)
{
    unet_ni_set_state(&se->ni, channel, state);
    unet_sm_aim(se, channel);
}

static void sm_channel_stop_sending(struct sm_link *link)
{
    if (link->out_lane)
        unet_sm_lane_detach(&link->peer.area, link->out_lane, link->out_generation);
    link->out_lane = 0;
}

void unet_sm_set_dead(struct sm_endpoint *se, uint16_t channel)
{
    uint8_t state = se->ni.ep.channel[channel].state;

    if (state != UNET_OPEN && state != UNET_CONNECTING)
        return;
    sm_channel_stop_sending(&se->link[channel]);
    sm_peer_unwatch(se, &se->link[channel]);
    sm_channel_set_state(se, channel, UNET_DEAD);
}

/* The peer closed its endpoint, or its side of the channel. */
static bool sm_peer_closed(const struct sm_endpoint *se, uint16_t channel)
{
    const struct sm_link *link = &se->link[channel];
    const struct sm_area *area = &link->peer.area;

    if (__atomic_load_n(&area->header->closed, __ATOMIC_ACQUIRE))
        return true;
    if (link->out_lane &&
        unet_sm_lane_state(area, link->out_lane, link->out_generation) != LANE_ATTACHED)
        return true;
    return unet_sm_lane_state(&se->own, channel, link->generation) == LANE_DETACHED;
}

static void sm_channel_notice_closed(struct sm_endpoint *se, uint16_t channel)
{
    uint8_t state = se->ni.ep.channel[channel].state;

    if ((state == UNET_OPEN || state == UNET_CONNECTING) && sm_peer_closed(se, channel))
        unet_sm_set_dead(se, channel);
}

void unet_sm_find_closed(struct sm_endpoint *se)
{
    for (uint32_t n = 1; n < se->ni.ep.rx_rings; n++)
        sm_channel_notice_closed(se, (uint16_t)n);
}

/* ---- opening ------------------------------------------------------------------- */

static void sm_channel_try_open(struct sm_endpoint *se, uint16_t channel)
{
    struct sm_link *link = &se->link[channel];
    const struct sm_area *area = &link->peer.area;
    uint32_t offers = __atomic_load_n(&area->header->offers, __ATOMIC_ACQUIRE);

    if (se->ni.ep.channel[channel].state != UNET_CONNECTING || offers == link->offers_seen)
        return;
    link->offers_seen = offers;
    link->out_lane = (uint16_t)unet_sm_lane_attach(area, link->key_out, &link->out_generation);
    if (!link->out_lane)
        return;
    unet_ring_attach(&link->out, sm_lane_ring(area, link->out_lane), area->recv_slots);
    sm_channel_set_state(se, channel, UNET_OPEN);
}

void unet_sm_find_opened(struct sm_endpoint *se)
{
    for (uint32_t n = 1; se->ni.connecting > 0 && n < se->ni.ep.rx_rings; n++) {
        if (se->ni.ep.channel[n].state == UNET_CONNECTING)
            sm_channel_try_open(se, (uint16_t)n);
    }
}

void unet_sm_update(struct unet_endpoint *ep, uint16_t channel)
{
    struct sm_endpoint *se = sm_of(ep);

    if (channel == 0) {
        unet_sm_find_opened(se);
        unet_sm_find_closed(se);
        unet_sm_sleep(se, 0);
        return;
    }
    sm_channel_try_open(se, channel);
    sm_channel_notice_closed(se, channel);
    if (unet_sm_has_ended(se->link[channel].peer.process))
        unet_sm_set_dead(se, channel);
}

/* ---- connecting -------------------------------------------------------------- */

void unet_sm_drop_peer(struct sm_endpoint *se, uint16_t channel)
{
    struct sm_link *link = &se->link[channel];
    uint32_t queued = link->queued;
    uint32_t generation = link->generation + 1;

    if (!link->peer.area.header)
        return;
    sm_peer_unwatch(se, link);
    se->transport->leave(&link->peer);
    *link = (struct sm_link){.queued = queued, .generation = generation};
}

/* A closed channel can be opened anew when nothing of its past can come up any
 * more: no queued descriptor, no sender in its lane. */
static bool sm_channel_reusable(struct sm_endpoint *se, uint16_t channel)
{
    struct sm_link *link = &se->link[channel];

    if (se->ni.ep.channel[channel].state != UNET_CLOSED || link->queued > 0)
        return false;
    if (!link->peer.area.header)
        return true;
    if (!unet_sm_lane_withdraw(&se->own, channel, link->generation) &&
        !unet_sm_has_ended(link->peer.process))
        return false;
    unet_sm_drop_peer(se, channel);
    return true;
}

/* A number for a new channel, or 0. */
static uint16_t sm_channel_choose(struct sm_endpoint *se)
{
    for (uint32_t n = 1; n <= se->ni.ep.config.channels; n++) {
        if (sm_channel_reusable(se, (uint16_t)n))
            return (uint16_t)n;
    }
    return 0;
}

static bool sm_channel_is_open(const struct sm_endpoint *se, uint64_t key_out)
{
    for (uint32_t n = 1; n < se->ni.ep.rx_rings; n++) {
        if (se->ni.ep.channel[n].state != UNET_CLOSED && se->link[n].key_out == key_out)
            return true;
    }
    return false;
}

static int sm_channel_set_up(struct sm_endpoint *se, const struct sm_peer *peer, uint64_t tag,
                             uint16_t *channel)
{
    uint64_t key_out = unet_sm_lane_key(tag, se->own.nonce, peer->area.nonce);
    struct sm_link *link;
    uint16_t n;
    int error;

    if (sm_channel_is_open(se, key_out))
        return -EEXIST;
    n = sm_channel_choose(se);
    if (n == 0)
        return -ENOSPC;
    error = peer->process >= 0 ? unet_sm_watch(se, peer->process, n) : 0;
    if (error)
        return error;
    link = &se->link[n];
    link->peer = *peer;
    link->key_out = key_out;
    link->key_in = unet_sm_lane_key(tag, peer->area.nonce, se->own.nonce);
    *channel = n;
    return 0;
}

int unet_sm_connect(struct unet_endpoint *ep, const struct unet_address *address, uint64_t tag,
                    uint16_t *channel)
{
    struct sm_endpoint *se = sm_of(ep);
    struct sm_peer peer;
    struct sm_link *link;
    uint16_t n;
    int error = se->transport->reach(address, &peer);

    if (error)
        return error;
    error = sm_channel_set_up(se, &peer, tag, &n);
    if (error) {
        se->transport->leave(&peer);
        return error;
    }
    link = &se->link[n];
    unet_ni_connecting(&se->ni, n);
    unet_sm_aim(se, n);
    unet_sm_lane_offer(&se->own, n, link->generation, link->key_in);
    unet_ring_attach(&ep->rx[n], sm_lane_ring(&se->own, n), ep->config.recv_slots);
    unet_sm_wake(se, n); /* it may be waiting for this offer */
    sm_channel_try_open(se, n);
    *channel = n;
    return 0;
}

/* ---- disconnecting ---------------------------------------------------------------- */

static void sm_channel_stop_receiving(struct sm_endpoint *se, uint16_t channel)
{
    struct unet_endpoint *ep = &se->ni.ep;

    ep->rx[channel] = unet_ring_empty;
    while (ep->rx_rings > 1 && ep->channel[ep->rx_rings - 1].state == UNET_CLOSED)
        ep->rx_rings--;
    if (ep->rx_next >= ep->rx_rings)
        ep->rx_next = 0;
}

void unet_sm_disconnect(struct unet_endpoint *ep, uint16_t channel)
{
    struct sm_endpoint *se = sm_of(ep);
    struct sm_link *link = &se->link[channel];
    bool withdrawn;

    sm_channel_stop_sending(link);
    sm_peer_unwatch(se, link);
    sm_channel_set_state(se, channel, UNET_CLOSED);
    sm_channel_stop_receiving(se, channel);
    withdrawn = unet_sm_lane_withdraw(&se->own, channel, link->generation);
    unet_sm_wake(se, channel);
    if (withdrawn)
        unet_sm_drop_peer(se, channel);
    unet_sm_service(se); /* refuse what is queued for it */
}
