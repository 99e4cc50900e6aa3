/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eth.h - emulated endpoints over raw Ethernet: packet sockets.
 *
 *   interface.c  the network interface, ports, and the socket there
 *   eth.c        frames out, and in from the ring
 *
 * One packet socket per endpoint.  A filter in the kernel, locked before the socket is bound, lets
 * in only frames to this endpoint's port: those of others, of this user or another, never come
 * into the process.
 */
#ifndef UNET_ETH_H
#define UNET_ETH_H

#include "datagram/datagram.h"

#include <linux/if_ether.h>

/* An endpoint's address, as it stands in struct unet_address; the same as on the kernel module. */
struct eth_address {
    uint8_t mac[ETH_ALEN];
    uint16_t port;
    uint64_t nonce;
};

struct eth_endpoint {
    struct datagram_endpoint de; /* first */
    struct eth_address own;
    int interface; /* index */
    int loopback;  /* index of the interface by which we reach endpoints of our own */
    int lock;      /* a socket whose name is our port */
    uint32_t mtu;
    uint8_t *ring;       /* of arrivals, shared with the kernel */
    uint32_t slots;      /* in it, a power of two */
    uint32_t slot_bytes; /* of each */
    uint32_t next;       /* the slot that the kernel fills next */
};

static inline struct eth_endpoint *eth_of(const struct datagram_endpoint *de)
{
    return (struct eth_endpoint *)de;
}

/* ---- interface.c --------------------------------------------------------------- */

/* Look at the interface that UNET_INTERFACE names (default lo; "auto": where the default route
 * goes out, or else the first Ethernet that runs), take a port there, and open a socket that is not
 * bound yet.  Errors: -ENODEV there is no such interface, -EINVAL it is no Ethernet, -EPERM we may
 * not open packet sockets (CAP_NET_RAW), -EADDRINUSE no port is free. */
int unet_eth_open_socket(struct eth_endpoint *ge);

/* From now on frames come. */
int unet_eth_bind_socket(struct eth_endpoint *ge);

/* Errors: -EADDRNOTAVAIL it is none of this backend, or of lo and we are not, or the reverse. */
int unet_eth_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                     struct datagram_link *link, uint64_t *nonce);

/* False if the peer is on this machine and its port is nobody's. */
bool unet_eth_is_there(const struct eth_endpoint *ge, const struct datagram_link *link);

#endif
