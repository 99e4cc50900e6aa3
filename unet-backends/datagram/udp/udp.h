/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.h - emulated endpoints over UDP sockets.
 *
 *   address.c   where an endpoint is, and the socket there
 *   udp.c       frames into datagrams and back
 */
#ifndef UNET_UDP_H
#define UNET_UDP_H

#include "core/local.h"
#include "datagram/datagram.h"

/* An endpoint's address, as it stands in struct unet_address. */
struct udp_address {
    uint16_t family; /* AF_INET or AF_INET6 */
    uint16_t port;   /* in network order, as ip */
    uint32_t scope;  /* of a link-local IPv6 address: the interface's index at home */
    uint8_t ip[16];
    uint64_t nonce;
};

enum {
    UDP_PAYLOAD_MAX = 65507, /* of a datagram over IPv4, without its headers */
    UDP_ARRIVALS = 16,       /* datagrams taken in with one system call */
    UDP_ROOM = 65536,        /* for each of them, or for several that the kernel has joined */
};

struct udp_endpoint {
    struct datagram_endpoint de; /* first */
    struct udp_address own;
    uint32_t datagram_most; /* bytes that go over our interface in one piece */
    bool found;             /* something, when we last looked for arrivals */
    bool segments;          /* the kernel cuts a long datagram into many (UDP_SEGMENT) */
    struct udp_arrivals *arrivals;
};

static inline struct udp_endpoint *udp_of(const struct datagram_endpoint *de)
{
    return (struct udp_endpoint *)de;
}

/* ---- address.c --------------------------------------------------------------- */

/* Open a socket at the local address that UNET_INTERFACE names (default 127.0.0.1), on any
 * port, and fill in `own` and `datagram_most`.  Errors: -EINVAL that is no address,
 * -EADDRNOTAVAIL it is not this machine's, and what the system calls return. */
int unet_udp_open_socket(struct udp_endpoint *ue);

/* Errors: -EADDRNOTAVAIL it is none of this backend, or of another family than our own. */
int unet_udp_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                     struct datagram_link *link, uint64_t *nonce);

#endif
