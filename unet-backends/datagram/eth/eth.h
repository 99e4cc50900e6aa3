/* SPDX-License-Identifier: BSD-3-Clause
 *
 * eth.h - emulated endpoints over raw Ethernet: packet sockets.
 *
 *   interface.c  the network interface, ports, and the socket there
 *   ring.c       what arrives at a socket, in memory
 *   super.c      super-frames: many frames as one, by a second socket
 *   eth.c        frames out, and in from the ring
 *
 * A filter in the kernel, locked before a socket is bound, lets in only frames to this endpoint's
 * port: those of others, of this user or another, never come into the process.
 */
#ifndef UNET_ETH_H
#define UNET_ETH_H

#include "datagram/datagram.h"

#include <linux/filter.h>
#include <linux/if_ether.h>

/* An endpoint's address, as it stands in struct unet_address; the same as on the kernel module. */
struct eth_address {
    uint8_t mac[ETH_ALEN];
    uint16_t port;
    uint64_t nonce;
};

/* The arrivals of a packet socket, shared with the kernel. */
struct eth_ring {
    uint8_t *slot;       /* NULL: there is none */
    uint32_t slots;      /* a power of two */
    uint32_t slot_bytes; /* of each */
    uint32_t next;       /* the slot that the kernel fills next */
};

struct eth_endpoint {
    struct datagram_endpoint de; /* first */
    struct eth_address own;
    int interface; /* index */
    int loopback;  /* index of the interface by which we reach endpoints of our own */
    int lock;      /* a socket whose name is our port */
    uint32_t mtu;
    struct eth_ring ring;
    int super; /* the socket of super-frames; -1: there is none */
    int epoll; /* readable when one of both sockets is; -1: nobody sleeps, or it is not needed */
    struct eth_ring super_ring;
    uint8_t *super_bytes; /* room for one super-frame */
};

static inline struct eth_endpoint *eth_of(const struct datagram_endpoint *de)
{
    return (struct eth_endpoint *)de;
}

/* The link's peer and the sender of a packet that arrived. */
struct datagram_place unet_eth_place_of(const struct eth_endpoint *ge,
                                        const struct tpacket2_hdr *packet);

/* ---- ring.c -------------------------------------------------------------------------- */

/* Slots for packets of that length; longer ones are cut.  Errors: those of setsockopt and mmap. */
int unet_eth_ring_open(struct eth_ring *ring, int socket, uint32_t bytes_most);
void unet_eth_ring_close(struct eth_ring *ring);

/* The next packet that arrived, or NULL; it is to be given back. */
static inline struct tpacket2_hdr *eth_ring_peek(const struct eth_ring *ring)
{
    struct tpacket2_hdr *slot =
        (struct tpacket2_hdr *)(ring->slot +
                                (size_t)(ring->next & (ring->slots - 1)) * ring->slot_bytes);

    return __atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER ? slot
                                                                                : NULL; /* B */
}

static inline void eth_ring_release(struct eth_ring *ring, struct tpacket2_hdr *slot)
{
    __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    ring->next++;
}

/* ---- super.c ------------------------------------------------------------------------- */

enum { ETH_SUPER_OVERHEAD = 28 }; /* bytes of a frame that the headers of IP and UDP take */

/* Open the second socket, if that is possible; without it all goes by the first. */
void unet_eth_super_open(struct eth_endpoint *ge);
void unet_eth_super_close(struct eth_endpoint *ge);

/* How many frames from the first on go as one. */
unsigned unet_eth_super_frames(const struct eth_endpoint *ge, const struct datagram_batch *b,
                               unsigned first);

/* Send so many frames from the first on as one.  Returns what the entry `send` of a transport
 * returns, or -1: it cannot be done. */
int unet_eth_super_send(struct eth_endpoint *ge, const struct datagram_batch *b, unsigned frames);

/* Send a frame without a message, so that the peer learns that this way is open. */
void unet_eth_super_say(const struct eth_endpoint *ge, const struct datagram_place *to,
                        const struct unet_frame *frame);

/* Take in what arrived there.  Returns the number of frames. */
int unet_eth_super_receive(struct eth_endpoint *ge);

/* About how many frames of that length can wait there. */
uint32_t unet_eth_super_backlog(const struct eth_endpoint *ge, uint32_t length);

/* ---- interface.c --------------------------------------------------------------- */

/* Accepts what `code` does that came to our address from outside or by the loopback interface, and
 * of no VLAN: those have interfaces of their own. */
int unet_eth_set_filter(const struct eth_endpoint *ge, int socket, const struct sock_filter *code,
                        unsigned count);

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
