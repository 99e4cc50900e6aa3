/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - opening and closing endpoints, progress, sleeping.
 */
#include "shared_memory/shared_memory.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

/* While a channel connects whose peer might close before it has opened its side. */
#define RETRY_CONNECTING_MS 50

/* ---- opening ------------------------------------------------------------------- */

int unet_sm_watch(struct sm_endpoint *se, int fd, uint32_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};

    return epoll_ctl(se->epoll, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : -errno;
}

static int sm_open_bell(struct sm_endpoint *se)
{
    int error;

    se->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (se->epoll < 0)
        return -errno;
    if (se->ni.ep.config.polled)
        return 0;
    error = unet_bell_open(se->ni.ep.bell);
    if (error)
        return error;
    se->ni.ep.fd = se->epoll;
    return unet_sm_watch(se, se->ni.ep.bell[0], 0);
}

static int sm_open_area(struct sm_endpoint *se)
{
    struct unet_endpoint *ep = &se->ni.ep;
    uint64_t nonce[2];
    void *memory;
    int error;

    if (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
        return -EIO;
    error = se->transport->create(se, nonce, unet_sm_area_bytes(&ep->config), &memory);
    if (error)
        return error;
    ep->fences_for_others = unet_fences_for_others();
    unet_sm_area_format(&se->own, memory, &ep->config, nonce, ep->fences_for_others);
    unet_ring_attach(&ep->free, se->own.free, ep->config.free_slots);
    ep->segment = se->own.segment;
    ep->armed = &se->own.header->armed;
    return 0;
}

/* Free an endpoint, whose opening may have failed. */
static void sm_free(struct sm_endpoint *se)
{
    if (se->own.header)
        se->transport->destroy(se);
    if (se->epoll >= 0)
        close(se->epoll);
    unet_ni_close(&se->ni);
}

static int sm_sleep(struct unet_ni *ni, int ms)
{
    struct sm_endpoint *se = sm_of(&ni->ep);
    const uint32_t died = ni->died;

    unet_sm_find_closed(se); /* after arming, so that a peer that closes later rings */
    return ni->died != died ? 1 : unet_sm_sleep(se, ms);
}

static const struct unet_ni_kind sm_kind = {
    .link_bytes = sizeof(struct sm_link),
    .memory = UNET_NI_SEND,
    .rings = true,
    .retry_ms = RETRY_CONNECTING_MS,
    .sleep = sm_sleep,
};

int unet_sm_open(const struct unet_ops *ops, const struct sm_transport *transport,
                 uint32_t capabilities, const struct unet_config *config,
                 struct unet_endpoint **endpoint)
{
    struct sm_endpoint *se;
    struct unet_ni *ni;
    int error = unet_ni_open(ops, &sm_kind, sizeof *se, config, &ni);

    if (error)
        return error;
    se = sm_of(&ni->ep);
    ni->ep.capabilities = capabilities;
    se->transport = transport;
    se->link = ni->link;
    se->epoll = se->fd = -1;
    error = sm_open_bell(se);
    if (error == 0)
        error = sm_open_area(se);
    if (error) {
        sm_free(se);
        return error;
    }
    *endpoint = &ni->ep;
    return 0;
}

void unet_sm_close(struct unet_endpoint *ep)
{
    struct sm_endpoint *se = sm_of(ep);

    __atomic_store_n(&se->own.header->closed, 1, __ATOMIC_RELEASE);
    for (uint32_t n = 1; n <= ep->config.channels; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_sm_disconnect(ep, (uint16_t)n);
        unet_sm_drop_peer(se, (uint16_t)n);
    }
    sm_free(se);
}

/* ---- the data path ---------------------------------------------------------------- */

void unet_sm_kick(struct unet_endpoint *ep, uint16_t channel)
{
    struct sm_endpoint *se = sm_of(ep);

    if (se->tx_seen != ep->tx.position)
        unet_sm_service(se);
    else
        unet_sm_notify(se, channel);
}

int unet_sm_progress(struct unet_endpoint *ep)
{
    struct sm_endpoint *se = sm_of(ep);

    if (se->ni.connecting > 0)
        unet_sm_find_opened(se);
    if (unet_ni_look_is_due(&se->ni)) {
        unet_sm_find_closed(se);
        unet_sm_sleep(se, 0);
    }
    return se->ni.tx.position == ep->tx.position ? 0 : unet_sm_service(se);
}

/* ---- sleeping ------------------------------------------------------------------- */

int unet_sm_sleep(struct sm_endpoint *se, int ms)
{
    struct epoll_event event[16];
    const int n = epoll_wait(se->epoll, event, sizeof event / sizeof *event, ms);

    for (int i = 0; i < n; i++) {
        if (event[i].data.u32 > 0)
            unet_sm_set_dead(se, (uint16_t)event[i].data.u32);
        else if (ms != 0)
            unet_bell_drain(se->ni.ep.bell[0]);
    }
    return n < 0 ? -errno : n > 0;
}
