/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pvc.c - opening an endpoint over the kernel's ATM, and its entries in the engine's table.
 */
#include "datagram/atm/pvc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { SKB_OVERHEAD = 768 }; /* what the kernel counts beside a PDU's or a cell's bytes, about */

static const uint64_t carrier_aal5 = 0x50564341414c3501, carrier_raw = 0x50564341414c3001;

static int pvc_open_memory(struct pvc_endpoint *pe)
{
    pe->by_place = calloc(PVC_PLACES, sizeof(struct pvc_vc *));
    pe->out = malloc((size_t)PVC_CELLS_MOST * ATM_CELL);
    pe->arrivals = malloc((size_t)PVC_ARRIVALS * PVC_SDU_MOST);
    return pe->by_place && pe->out && pe->arrivals ? 0 : -ENOMEM;
}

static int pvc_bind(struct datagram_endpoint *de)
{
    struct pvc_endpoint *pe = pvc_of(de);
    struct pvc_address own;
    int error;

    pe->claim = -1;
    unet_aal5_init();
    error = unet_pvc_settings(&pe->settings);
    if (error == 0)
        error = pvc_open_memory(pe);
    if (error)
        return error;
    de->socket = epoll_create1(EPOLL_CLOEXEC);
    if (de->socket < 0)
        return -errno;
    error = unet_pvc_claim(pe);
    if (error)
        return error;
    de->message_most = PVC_MESSAGE_MOST;
    de->ni.ep.packet_bytes = ATM_PACKET_BYTES;
    own = (struct pvc_address){.node = pe->settings.node,
                               .port = de->port,
                               .carrier = pe->settings.raw ? carrier_raw : carrier_aal5,
                               .nonce = de->nonce};
    unet_ni_set_address(&de->ni, &own, sizeof own);
    return 0;
}

/* What the sockets do not take now is lost: nobody is left to wait. */
static void pvc_unbind(struct datagram_endpoint *de)
{
    struct pvc_endpoint *pe = pvc_of(de);

    if (pe->out)
        unet_pvc_flush(pe);
    unet_pvc_close_all(pe);
    if (de->socket >= 0)
        close(de->socket);
    free(pe->out);
    free(pe->arrivals);
}

/* Endpoints of one node do not reach each other, but each itself: the kernel gives their VC to one
 * of them alone. */
static int pvc_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                       struct datagram_link *link, uint64_t *nonce)
{
    const struct pvc_endpoint *pe = pvc_of(de);
    struct pvc_address peer;

    if (address->length != sizeof peer)
        return -EADDRNOTAVAIL;
    memcpy(&peer, address->bytes, sizeof peer);
    if (peer.carrier != (pe->settings.raw ? carrier_raw : carrier_aal5) || peer.node == 0 ||
        peer.node > PVC_NODE_MOST || peer.port >= PVC_PORTS ||
        (peer.node == pe->settings.node && peer.nonce != de->nonce))
        return -EADDRNOTAVAIL;
    link->peer = unet_pvc_place(peer.node, peer.port);
    link->peer_port = (uint16_t)peer.port;
    *nonce = peer.nonce;
    return 0;
}

/* The network reports nothing: who does not answer is silent. */
static void pvc_probe(struct datagram_endpoint *de, const uint16_t *asked, unsigned count)
{
    (void)de;
    (void)asked;
    (void)count;
}

/* Of the VC's socket, whose buffer counts what the kernel keeps beside the bytes, too. */
static uint32_t pvc_backlog(struct unet_endpoint *ep, uint32_t length)
{
    const struct pvc_endpoint *pe = pvc_of(datagram_of(ep));
    const size_t cells = unet_aal5_cells(1 + sizeof(uint32_t) + length);
    const size_t message = pe->settings.raw ? cells * SKB_OVERHEAD : length + SKB_OVERHEAD;
    int bytes = 0;
    socklen_t size = sizeof bytes;

    if (getsockopt(pe->claim, SOL_SOCKET, SO_RCVBUF, &bytes, &size) < 0)
        return 1;
    return 1 + (uint32_t)((size_t)bytes / message);
}

static const struct unet_datagram_ops pvc_datagram_ops = {
    .attach = unet_datagram_attach,
    .send = unet_datagram_send_packets,
    .backlog = pvc_backlog,
    .host = unet_datagram_no_host,
};

static const struct unet_ops pvc_ops = {
    .name = "atm",
    .network = true,
    .place = "UNET_ATM_CARRIER",
    .close = unet_datagram_close,
    .address = unet_ni_address,
    .connect = unet_datagram_connect,
    .disconnect = unet_datagram_disconnect,
    .state = unet_datagram_state,
    .kick = unet_datagram_kick,
    .progress = unet_datagram_progress,
    .wait = unet_ni_wait,
    .datagrams = &pvc_datagram_ops,
};

const struct datagram_transport unet_pvc_transport = {
    .ops = &pvc_ops,
    .endpoint_bytes = sizeof(struct pvc_endpoint),
    .bind = pvc_bind,
    .unbind = pvc_unbind,
    .resolve = pvc_resolve,
    .name_opening = unet_pvc_name_opening,
    .send = unet_pvc_send,
    .say = unet_pvc_say,
    .receive = unet_pvc_receive,
    .probe = pvc_probe,
};
