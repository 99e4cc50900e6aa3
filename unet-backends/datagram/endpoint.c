/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.c - opening an endpoint, progress, sleeping.
 */
#include "datagram/datagram.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>

#if __BYTE_ORDER != __LITTLE_ENDIAN
#error "frames are read and written as they lie in memory: little-endian machines only"
#endif

/* ---- progress ---------------------------------------------------------------------- */

void unet_datagram_kick(struct unet_endpoint *ep, uint16_t channel)
{
    (void)channel;
    unet_datagram_service(datagram_of(ep));
}

int unet_datagram_receive(struct datagram_endpoint *de)
{
    const int count = de->transport->receive(de);

    if (count > 0 && de->ni.ep.upcall)
        unet_upcall_arrived(&de->ni.ep);
    return count;
}

int unet_datagram_progress(struct unet_endpoint *ep)
{
    struct datagram_endpoint *de = datagram_of(ep);
    int count = unet_datagram_service(de);

    if (de->ni.connecting > 0)
        unet_ni_tell(&de->ni);
    if (unet_ni_look_is_due(&de->ni))
        unet_datagram_look(de);
    return count + unet_datagram_receive(de);
}

/* An error makes the socket ready, too; it counts as nothing having arrived, so that the caller
 * calls `state`, which reads what the network has reported. */
static int datagram_sleep(struct unet_ni *ni, int ms)
{
    const struct datagram_endpoint *de = datagram_of(&ni->ep);
    struct pollfd fd = {.fd = de->wake, .events = POLLIN};

    if (de->unsent)
        fd.events |= POLLOUT;
    if (poll(&fd, 1, ms) < 0)
        return -errno;
    return fd.revents != 0 && (fd.revents & ~fd.events) == 0;
}

int unet_datagram_no_host(const struct unet_endpoint *ep, struct sockaddr_storage *host)
{
    (void)ep;
    (void)host;
    return -EOPNOTSUPP;
}

/* ---- opening -------------------------------------------------------------------------- */

static const struct unet_ni_kind datagram_kind = {
    .link_bytes = sizeof(struct datagram_link),
    .memory = UNET_NI_ALL,
    .retry_ms = 1,
    .look_ms = 100,
    .sleep = datagram_sleep,
    .tell = unet_datagram_tell,
};

static int datagram_open_buckets(struct datagram_endpoint *de)
{
    uint32_t buckets = 1;

    while (buckets < de->ni.ep.config.channels + 1)
        buckets *= 2;
    de->bucket_mask = buckets - 1;
    de->bucket = calloc(buckets, sizeof *de->bucket);
    return de->bucket ? 0 : -ENOMEM;
}

static int datagram_open_transport(struct datagram_endpoint *de)
{
    if (getrandom(&de->nonce, sizeof de->nonce, 0) != sizeof de->nonce)
        return -EIO;
    return de->transport->bind(de);
}

static void datagram_free(struct datagram_endpoint *de)
{
    de->transport->unbind(de);
    free(de->bucket);
    unet_ni_close(&de->ni);
}

int unet_datagram_open(const struct datagram_transport *transport, const struct unet_config *config,
                       struct unet_endpoint **endpoint)
{
    struct datagram_endpoint *de;
    struct unet_ni *ni;
    int error =
        unet_ni_open(transport->ops, &datagram_kind, transport->endpoint_bytes, config, &ni);

    if (error)
        return error;
    de = datagram_of(&ni->ep);
    de->transport = transport;
    de->link = ni->link;
    de->socket = -1;
    ni->ep.capabilities = UNET_CAP_REMOTE;
    error = datagram_open_buckets(de);
    if (error == 0)
        error = datagram_open_transport(de);
    de->wake = de->socket;
    if (error) {
        datagram_free(de);
        return error;
    }
    if (!config->polled) {
        ni->ep.fd = de->socket;
        ni->ep.wired = true;
    }
    *endpoint = &ni->ep;
    return 0;
}

void unet_datagram_close(struct unet_endpoint *ep)
{
    for (uint32_t n = 1; n < ep->rx_rings; n++) {
        if (ep->channel[n].state != UNET_CLOSED)
            unet_datagram_disconnect(ep, (uint16_t)n);
    }
    datagram_free(datagram_of(ep));
}
