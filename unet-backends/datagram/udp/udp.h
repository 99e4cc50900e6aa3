/* SPDX-License-Identifier: BSD-3-Clause
 *
 * udp.h - emulated endpoints over UDP sockets.
 *
 *   address.c   where an endpoint is, and the socket there
 *   udp.c       opening an endpoint
 *   send.c      frames into datagrams
 *   receive.c   datagrams into frames
 *   errors.c    what the network reports about peers
 *   connected.c sockets of their own for the peers with most of the traffic
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
    UDP_SOCKETS = 4,         /* the first, and those that are connected to a peer */
    UDP_SAMPLES = 32,        /* of the channels that are sent to, an epoch has */
    UDP_SAMPLE_FIRST = 2,    /* system calls from one sample to the next in the first epoch, */
    UDP_SAMPLE_SENDS = 32,   /* and in those after it, on average */
};

struct udp_socket {
    int fd;                     /* -1: there is none */
    uint16_t channel;           /* whose peer it is connected to */
    bool found;                 /* something, when we last looked for arrivals */
    uint8_t asks;               /* for marks, until so many short datagrams have come; 0: no more */
    struct datagram_place peer; /* that it is connected to; length 0: it takes anybody's */
};

struct udp_endpoint {
    struct datagram_endpoint de; /* first */
    struct udp_address own;
    uint32_t datagram_most; /* bytes that go over our interface in one piece */
    bool segments;          /* the kernel cuts a long datagram into many (UDP_SEGMENT) */
    struct udp_arrivals *arrivals;

    struct udp_socket socket[UDP_SOCKETS]; /* [0] is de.socket; a link knows its own by number */
    unsigned connected;                    /* of the others, how many there are */
    unsigned pause, skip;                  /* looks that the first is left out, and are left */
    int epoll;                             /* ready when one of them is; -1: nobody sleeps */
    bool alone;                            /* no socket is to be connected */
    unsigned sample_sends;                 /* system calls from one sample to the next, */
    unsigned until_sample;                 /* and before the next one */
    uint32_t random;                       /* what their number is made of */
    unsigned samples;                      /* so far, of the epoch */
    uint16_t sample[UDP_SAMPLES];          /* channels */
};

static inline struct udp_endpoint *udp_of(const struct datagram_endpoint *de)
{
    return (struct udp_endpoint *)de;
}

/* ---- send.c, receive.c ------------------------------------------------------- */

/* The entries of struct datagram_transport. */
unsigned unet_udp_send(struct datagram_endpoint *de, struct datagram_batch *batch);
int unet_udp_receive(struct datagram_endpoint *de);

/* What recvmmsg fills.  Errors: -ENOMEM. */
int unet_udp_open_arrivals(struct udp_endpoint *ue);
void unet_udp_close_arrivals(struct udp_endpoint *ue);

/* Take in all that has arrived at that socket. */
void unet_udp_drain(struct udp_endpoint *ue, struct udp_socket *s);

/* ---- errors.c ---------------------------------------------------------------- */

/* Read what the network has reported to that socket, or to all: who is said twice not to listen is
 * gone. */
void unet_udp_read_socket_errors(struct datagram_endpoint *de, int socket);
void unet_udp_read_errors(struct datagram_endpoint *de);

/* ---- connected.c ------------------------------------------------------------- */

/* From now on peers may get sockets of their own, and the endpoint's descriptor covers them all. */
void unet_udp_allow_connected(struct udp_endpoint *ue);

/* The endpoint has taken UDP_SAMPLES: connect sockets to the peers that they name often, and close
 * those of other peers.  Takes in arrivals. */
void unet_udp_end_epoch(struct udp_endpoint *ue);

void unet_udp_close_connected(struct udp_endpoint *ue);

/* ---- address.c --------------------------------------------------------------- */

/* A socket with the options of all of ours, neither bound nor connected; or -errno. */
int unet_udp_socket(int family);

/* Open a socket at the local address that UNET_INTERFACE names (default 127.0.0.1), on any
 * port, and fill in `own` and `datagram_most`.  Errors: -EINVAL that is no address,
 * -EADDRNOTAVAIL it is not this machine's, and what the system calls return. */
int unet_udp_open_socket(struct udp_endpoint *ue);

/* Errors: -EADDRNOTAVAIL it is none of this backend, or of another family than our own. */
int unet_udp_resolve(const struct datagram_endpoint *de, const struct unet_address *address,
                     struct datagram_link *link, uint64_t *nonce);

#endif
