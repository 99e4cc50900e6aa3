/* SPDX-License-Identifier: BSD-3-Clause
 *
 * atm.c - opening an endpoint, and its entries in the engine's table.
 */
#include "datagram/atm/atm.h"
#include "datagram/atm/pvc.h"

#include <errno.h>

#include <stdlib.h>

enum { DATAGRAM_OVERHEAD = 768 }; /* of the kernel's, however short it is */

static int atm_attach(struct atm_endpoint *ae)
{
    struct atm_port port = {.cookie = ae->de.nonce};
    const int error = unet_atm_attach(&port, &ae->line, getenv("UNET_ATM_CARRIER"));

    ae->de.socket = ae->line.fd;
    ae->own =
        (struct atm_address){.node = port.node, .switch_id = port.switch_id, .nonce = port.cookie};
    return error;
}

static int atm_bind(struct datagram_endpoint *de)
{
    struct atm_endpoint *ae = atm_of(de);
    int error;

    ae->line.fd = -1;
    unet_aal5_init();
    error = unet_atm_open_channels(ae);
    if (error == 0)
        error = atm_attach(ae);
    if (error)
        return error;
    de->message_most = ATM_MESSAGE_MOST;
    de->ni.ep.packet_bytes = ATM_PACKET_BYTES;
    unet_ni_set_address(&de->ni, &ae->own, sizeof ae->own);
    return 0;
}

/* What the socket does not take now is lost: nobody is left to wait. */
static void atm_unbind(struct datagram_endpoint *de)
{
    struct atm_endpoint *ae = atm_of(de);
    const struct atm_port port = {.node = ae->own.node, .cookie = ae->own.nonce};

    unet_atm_flush(ae);
    unet_atm_detach(&port, &ae->line);
    unet_atm_close_channels(ae);
}

static int atm_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                       struct datagram_link *link, uint64_t *nonce)
{
    struct atm_address peer;

    if (address->length != sizeof peer)
        return -EADDRNOTAVAIL;
    memcpy(&peer, address->bytes, sizeof peer);
    if (peer.switch_id != atm_of(de)->own.switch_id || peer.node == 0 || peer.node > ATM_VPI_MOST)
        return -EADDRNOTAVAIL;
    link->peer = unet_atm_place(peer.node);
    *nonce = peer.nonce;
    return 0;
}

/* Those who do not answer are reported by the switch, when it has nobody at their port. */
static void atm_probe(struct datagram_endpoint *de, const uint16_t *asked, unsigned count)
{
    (void)de;
    (void)asked;
    (void)count;
}

/* The socket's buffer counts what the kernel keeps beside a datagram's bytes, too. */
static uint32_t atm_backlog(struct unet_endpoint *ep, uint32_t length)
{
    const size_t wire = unet_aal5_cells(ATM_USER_BYTES + length) * ATM_CELL;
    int bytes = 0;
    socklen_t size = sizeof bytes;

    if (getsockopt(datagram_of(ep)->socket, SOL_SOCKET, SO_RCVBUF, &bytes, &size) < 0)
        return 1;
    return 1 + (uint32_t)((size_t)bytes / (2 * wire + DATAGRAM_OVERHEAD));
}

static const struct unet_datagram_ops atm_datagram_ops = {
    .attach = unet_datagram_attach,
    .send = unet_datagram_send_packets,
    .backlog = atm_backlog,
    .host = unet_datagram_no_host,
};

static const struct datagram_transport atm_transport = {
    .ops = &unet_atm_ops,
    .endpoint_bytes = sizeof(struct atm_endpoint),
    .bind = atm_bind,
    .unbind = atm_unbind,
    .resolve = atm_resolve,
    .name_opening = unet_atm_name_opening,
    .send = unet_atm_send,
    .say = unet_atm_say,
    .receive = unet_atm_receive,
    .probe = atm_probe,
};

static int atm_open(const struct unet_config *config, struct unet_endpoint **endpoint)
{
    return unet_datagram_open(unet_pvc_is_carrier() ? &unet_pvc_transport : &atm_transport, config,
                              endpoint);
}

#define ATM_CARRIER                                                                                \
    "UNET_ATM_CARRIER has to name a switch, cells:ADDRESS:PORT, or an ATM interface, pvc:ITF or "  \
    "pvc:ITF,aal0: "

static const struct unet_remedy atm_remedies[] = {
    {-EDESTADDRREQ, ATM_CARRIER "unetatm unetrun ... starts a switch for a command, and sets it"},
    {-EINVAL, ATM_CARRIER "the address is an IPv4 one, or an IPv6 one in brackets; ITF is a number "
                          "of /proc/net/atm/devices"},
    {-ECONNREFUSED, "no switch listens where UNET_ATM_CARRIER says: start unetatm there"},
    {-ETIMEDOUT, "no switch answers where UNET_ATM_CARRIER says: start unetatm there, or let the "
                 "network carry UDP to it"},
    {-EUSERS, "all 4095 ports of the switch have nodes: end some, or start another unetatm"},
    {-ENXIO,
     "UNET_ATM_NODE has to say which VPI, 1 to 255, leads to this host from others: NODE, or "
     "HOST=NODE,HOST=NODE,... with this host in it"},
    {-EAFNOSUPPORT, "the kernel has no ATM: load the module atm and the adapter's driver, or name "
                    "a switch, cells:ADDRESS:PORT"},
    {-ENODEV, "UNET_ATM_CARRIER=pvc:ITF has to name an interface that is in /proc/net/atm/devices"},
    {-EOPNOTSUPP, "the interface is one of atmtcp, which never finishes to connect in current "
                  "kernels: name another one, or a switch, cells:ADDRESS:PORT"},
    {-EPROTONOSUPPORT, "the interface's driver takes no raw cells: leave out \",aal0\" in "
                       "UNET_ATM_CARRIER"},
    {-ENETDOWN, "is the switch unetatm, or the ATM interface, that UNET_ATM_CARRIER names, gone?"},
    {-EADDRNOTAVAIL, "all 255 ports of this node have endpoints on this interface: end some"},
    {0, NULL}};

const struct unet_ops unet_atm_ops = {
    .name = "atm",
    .network = true,
    .place = "UNET_ATM_CARRIER",
    .remedies = atm_remedies,
    .open = atm_open,
    .close = unet_datagram_close,
    .address = unet_ni_address,
    .connect = unet_datagram_connect,
    .disconnect = unet_datagram_disconnect,
    .state = unet_datagram_state,
    .kick = unet_datagram_kick,
    .progress = unet_datagram_progress,
    .wait = unet_ni_wait,
    .datagrams = &atm_datagram_ops,
};
