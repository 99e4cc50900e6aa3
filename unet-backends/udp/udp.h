/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.h - endpoints over UDP sockets: the kernel is the network interface.
 *
 *   address.c   where an endpoint is, and the socket there
 *   channel.c   opening, closing, and noticing that a peer is gone
 *   datagram.c  messages into datagrams and back
 *   udp.c       opening an endpoint, progress, waiting
 */
#ifndef UNET_UDP_H
#define UNET_UDP_H

#include "core/core.h"
#include "udp/wire.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* An endpoint's address, as it stands in struct unet_address. */
struct udp_address {
    uint16_t family; /* AF_INET or AF_INET6 */
    uint16_t port;   /* in network order, as ip */
    uint32_t scope;  /* of a link-local IPv6 address */
    uint8_t ip[16];
    uint64_t nonce;
};

union udp_sockaddr {
    struct sockaddr any;
    struct sockaddr_in ip4;
    struct sockaddr_in6 ip6;
};

/* What the endpoint keeps of one channel beside `struct unet_channel`. */
struct udp_link {
    union udp_sockaddr peer;
    uint64_t key_in;       /* what the peer's datagrams have to say */
    uint64_t key_out;      /* what ours say */
    uint64_t next_open_us; /* when to tell the peer again that we are open */
    uint64_t probed_us;    /* when we last looked whether it is alive */
    uint32_t pause_us;     /* until the next telling; doubles */
    uint32_t life;         /* this opening of ours */
    uint32_t peer_life;    /* and the peer's */
    uint16_t number;       /* the peer's number of the channel; 0: not known yet */
    struct unet_ring in;   /* rx[n], the NI's side */
};

enum { UDP_BATCH = 16 }; /* datagrams per system call */

struct udp_endpoint {
    struct unet_endpoint ep; /* first: the interface knows only this */
    int socket;
    struct udp_address own;
    struct udp_link *link;   /* by channel number */
    struct unet_ring tx;     /* send queue, the NI's side */
    struct unet_ring free;   /* free queue, the NI's side */
    struct unet_ring errors; /* rx[0], the NI's side */
    struct unet_ring full;   /* always looks full: where a channel sends that cannot */
    uint32_t calls;          /* of progress */
    uint32_t always;         /* a bell that is always set: every send wants a kick */
    uint32_t connecting;     /* channels in UNET_CONNECTING */
    uint32_t changes;        /* channels that opened or died so far */
    uint32_t armed;          /* nobody but us looks at it */
    uint8_t *arrivals;       /* UDP_BATCH datagrams */
    void *memory;            /* rings and segment */
    size_t memory_bytes;
};

static inline struct udp_endpoint *udp_of(struct unet_endpoint *ep)
{
    return (struct udp_endpoint *)ep;
}

static inline bool udp_is_channel(const struct udp_endpoint *ue, uint16_t n)
{
    return n >= 1 && n <= ue->ep.config.channels;
}

/* ---- address.c --------------------------------------------------------------- */

/* Open a socket at the local address that UNET_UDP_ADDRESS names (unet_udp_local; default
 * 127.0.0.1), on any port, and fill in `own`.  Errors: those of unet_udp_local, and what
 * the system calls return. */
int unet_udp_bind(struct udp_endpoint *ue);

/* Errors: -EADDRNOTAVAIL it is none of this backend, or of another family than our own. */
int unet_udp_resolve(const struct udp_endpoint *ue, const struct unet_address *address,
                     struct udp_address *peer);

void unet_udp_sockaddr(const struct udp_address *address, union udp_sockaddr *to);
socklen_t unet_udp_sockaddr_length(const union udp_sockaddr *address);
bool unet_udp_same(const union udp_sockaddr *a, const union udp_sockaddr *b);

/* The longest message that fits into one packet on the way out of our address. */
uint32_t unet_udp_packet_bytes(const struct udp_endpoint *ue);

/* ---- channel.c ------------------------------------------------------------------ */

int unet_udp_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                     uint16_t *channel);
void unet_udp_disconnect(struct unet_endpoint *ep, uint16_t channel);
void unet_udp_state(struct unet_endpoint *ep, uint16_t channel);

/* A datagram about the channel itself. */
void unet_udp_control(struct udp_endpoint *ue, const struct udp_header *header,
                      const union udp_sockaddr *from);

/* Tell peers that we are open, those whose time has come. */
void unet_udp_tell(struct udp_endpoint *ue);

/* Read what the network says of peers that are not there. */
void unet_udp_read_errors(struct udp_endpoint *ue);

/* ---- datagram.c -------------------------------------------------------------------- */

/* Send what is in the send queue, as far as the socket takes it.  Returns the number of
 * descriptors done with. */
int unet_udp_service(struct udp_endpoint *ue);

/* Take in what arrived.  Returns the number of datagrams. */
int unet_udp_receive(struct udp_endpoint *ue);

#endif
