/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eth.h - emulated endpoints over raw Ethernet: packet sockets.
 *
 *   interface.c  the network interface, ports, and the socket there
 *   super.c      super-frames: many frames as one, by a second socket
 *   eth.c        frames out, and in from the ring
 *
 * A filter in the kernel, locked before a socket is bound, lets in only frames to this endpoint's
 * port: those of others, of this user or another, never come into the process.
 */
#ifndef UNET_ETH_H
#define UNET_ETH_H

#include "core/packet_socket.h"
#include "datagram/datagram.h"

/* An endpoint's address, as it stands in struct unet_address; the same as on the kernel module. */
struct eth_address {
    uint8_t mac[ETH_ALEN];
    uint16_t port;
    uint64_t nonce;
};

enum { ETH_RING_BYTES = 4 << 20 }; /* of a ring of arrivals */

struct eth_endpoint {
    struct datagram_endpoint de; /* first */
    struct eth_address own;
    struct unet_packet_interface interface;
    int lock; /* a socket whose name is our port */
    uint32_t mtu;
    struct unet_packet_ring ring;
    int super; /* the socket of super-frames; -1: there is none */
    int epoll; /* readable when one of both sockets is; -1: nobody sleeps, or it is not needed */
    struct unet_packet_ring super_ring;
    uint8_t *super_bytes;  /* room for one super-frame */
    bool answers_by_super; /* while what came by one is taken in */
};

static inline struct eth_endpoint *eth_of(const struct datagram_endpoint *de)
{
    return (struct eth_endpoint *)de;
}

/* The link's peer and the sender of a packet that arrived. */
struct datagram_place unet_eth_place_of(const struct eth_endpoint *ge,
                                        const struct tpacket2_hdr *packet);

/* ---- super.c ------------------------------------------------------------------------- */

enum { ETH_SUPER_OVERHEAD = 28 }; /* bytes of a frame that the headers of IP and UDP take */

/* What UNET_ETH_SUPER says.  Errors: -EDOM it makes no sense. */
int unet_eth_super_setting(bool *wanted);
/* Open the second socket, if that is possible; without it all goes by the first. */
void unet_eth_super_open(struct eth_endpoint *ge);
void unet_eth_super_close(struct eth_endpoint *ge);

/* How many frames from the first on go as one. */
unsigned unet_eth_super_frames(const struct eth_endpoint *ge, const struct datagram_batch *b,
                               unsigned first);

/* The first frames of the batch would go as one, if the peer had said that it takes super-frames:
 * ask again, now and then. */
void unet_eth_super_want(const struct eth_endpoint *ge, const struct datagram_batch *b);

/* Send so many frames from the first on as one.  Returns what the entry `send` of a transport
 * returns, or -1: it cannot be done. */
int unet_eth_super_send(struct eth_endpoint *ge, const struct datagram_batch *b, unsigned frames);

/* Send a frame without a message, so that the peer learns that this way is open. */
void unet_eth_super_say(const struct eth_endpoint *ge, const struct datagram_place *to,
                        const struct unet_frame *frame);

/* Take in the packet that arrived in that slot of the ring there, and give the slot back.  Returns
 * the number of frames; one that is lost or malformed counts as one, because it took as long. */
int unet_eth_super_take(struct eth_endpoint *ge, struct tpacket2_hdr *slot);

/* About how many frames of that length can wait there. */
uint32_t unet_eth_super_backlog(const struct eth_endpoint *ge, uint32_t length);

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
