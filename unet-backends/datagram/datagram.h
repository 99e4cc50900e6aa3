/* SPDX-License-Identifier: BSD-3-Clause
 *
 * datagram.h - endpoints whose network interface is a socket of the kernel, or another endpoint.
 *
 * Everything but that is common: queues, channels, and messages into frames
 * (unet_frame.h) and back.  What carries the frames is a `struct datagram_transport`.
 *
 *   endpoint.c  opening an endpoint, progress, waiting
 *   channel.c   opening, closing, and noticing that a peer is gone
 *   frame.c     messages into frames and back
 *   train.c     frames that go as one, for the kernel or the network interface to cut
 */
#ifndef UNET_DATAGRAM_H
#define UNET_DATAGRAM_H

#include "core/core.h"

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unet/unet_frame.h>
#include <unet/unet_ni.h>

/* Where a peer's socket is.  Unused bytes are zero, because places are compared with memcmp. */
struct datagram_place {
    union {
        struct sockaddr any;
        struct sockaddr_in ip4;
        struct sockaddr_in6 ip6;
        struct sockaddr_ll eth;
        uint32_t number; /* mux: of a channel below; atm: of a node */
    };
    socklen_t length;
};

/* What the endpoint keeps of one channel beside `struct unet_channel`. */
struct datagram_link {
    struct unet_link common; /* first */
    struct datagram_place peer;
    uint16_t peer_port;   /* of the endpoint, at that place */
    uint16_t same_bucket; /* the next channel of the list that `bucket` heads; 0: none */
    uint64_t key_in;      /* what the peer's frames have to say */
    uint64_t key_out;     /* what ours say */
    uint64_t refused_us;  /* udp: when it was first said that the peer does not listen; 0: not */
    uint32_t life;        /* this opening of ours */
    uint32_t peer_life;   /* and the peer's */
    bool here;            /* eth: the peer is on this machine */
    uint16_t uncut;       /* train.c: frames that go one by one until a train is tried again */
    bool super;           /* eth: super-frames pass between the peer and us */
    uint8_t socket;       /* udp: the number of the socket that goes there; 0: the first */
    uint32_t super_pause; /* eth: between two questions whether super-frames pass, in us */
    uint64_t super_ask;   /* and when the next one may go */
};

struct datagram_endpoint {
    struct unet_ni ni; /* first */
    const struct datagram_transport *transport;
    int socket;
    int wake;                   /* readable when something has arrived: `socket`, unless there are
                                   several */
    uint16_t port;              /* ours, in frames */
    uint64_t nonce;             /* ours, a random number */
    uint32_t message_most;      /* bytes that a frame of this transport can carry */
    struct datagram_link *link; /* by channel number */
    uint16_t *bucket;           /* channels that are not closed, by `key_in` */
    uint32_t bucket_mask;       /* their number - 1 */
    bool unsent;                /* the transport keeps something that the socket did not take */
    uint32_t no_room;           /* times in a row that the network took not even the next frame */
    bool marked;                /* what arrives now was, by the network, for congestion */
    unet_packet_fn *arrived;    /* takes in messages instead of the queues; NULL: none does */
    void *arrived_arg;
};

/* Frames on their way out, as sendmmsg takes them; their pieces lie one behind the other. */
enum { DATAGRAM_BATCH = 64, DATAGRAM_PIECES = DATAGRAM_BATCH * (1 + UNET_PIECES_MAX) };

struct datagram_batch {
    unsigned count;
    struct mmsghdr message[DATAGRAM_BATCH];
    struct unet_frame header[DATAGRAM_BATCH];
    struct iovec iov[DATAGRAM_PIECES];
    uint32_t bytes[DATAGRAM_BATCH]; /* of each frame */
};

/* What carries frames.  No entry is NULL. */
struct datagram_transport {
    const struct unet_ops *ops;
    size_t endpoint_bytes; /* of its endpoints, which begin with a struct datagram_endpoint */

    /* Open the socket; fill in `socket`, `port`, `message_most`, `ep.packet_bytes` and the
     * address. */
    int (*bind)(struct datagram_endpoint *de);

    /* Undo `bind`, also one that has failed half-way. */
    void (*unbind)(struct datagram_endpoint *de);

    /* Fill in the link's `peer`, `peer_port` and `here`, and the nonce, for the endpoint at that
     * address. Errors: -EADDRNOTAVAIL the address is not one of this transport, or cannot be
     * reached from our own. */
    int (*resolve)(const struct datagram_endpoint *de, const struct unet_address *address,
                   struct datagram_link *link, uint64_t *nonce);

    /* Name a new opening of channel n, which is closed, by a number that no other one of late has
     * had: the `life` of `link`, in which `resolve` has filled in the peer.  Errors: -EIO, -ENOSPC
     * there is no such number, or those of opening what leads to the peer. */
    int (*name_opening)(struct datagram_endpoint *de, uint16_t n, struct datagram_link *link);

    /* Send frames in order.  Returns how many were sent or lost and need no further attention; 0:
     * the socket takes none now. */
    unsigned (*send)(struct datagram_endpoint *de, struct datagram_batch *batch);

    /* Send a frame without a message, once.  It may be lost. */
    void (*say)(struct datagram_endpoint *de, const struct datagram_place *to,
                const struct unet_frame *frame);

    /* Give what arrived to unet_datagram_arrived.  Returns the number of frames. */
    int (*receive)(struct datagram_endpoint *de);

    /* The peers of the `asked` channels, possibly none, have just been asked whether they are
     * alive.  Find out what the network has reported about any peer, or what this machine knows
     * about those, and call unet_datagram_gone for the dead. */
    void (*probe)(struct datagram_endpoint *de, const uint16_t *asked, unsigned count);
};

static inline struct datagram_endpoint *datagram_of(struct unet_endpoint *ep)
{
    return (struct datagram_endpoint *)ep;
}

/* Something came from the channel's peer. */
static inline void datagram_heard(struct datagram_link *link)
{
    link->common.heard = true;
    link->refused_us = 0;
}

/* The link that frame i of a batch goes to; its address is the link's `peer`. */
static inline struct datagram_link *datagram_link_of(const struct datagram_batch *b, unsigned i)
{
    uint8_t *place = (uint8_t *)b->message[i].msg_hdr.msg_name;

    return (struct datagram_link *)(place - offsetof(struct datagram_link, peer));
}

bool unet_datagram_same(const struct datagram_place *a, const struct datagram_place *b);

/* ---- endpoint.c: the entries of struct unet_ops ------------------------------------ */

int unet_datagram_open(const struct datagram_transport *transport, const struct unet_config *config,
                       struct unet_endpoint **endpoint);
void unet_datagram_close(struct unet_endpoint *ep);
void unet_datagram_kick(struct unet_endpoint *ep, uint16_t channel);
int unet_datagram_progress(struct unet_endpoint *ep);

/* Take in what arrived.  Returns the number of frames. */
int unet_datagram_receive(struct datagram_endpoint *de);

/* The entry `host` of struct unet_datagram_ops where peers have no IP addresses. */
int unet_datagram_no_host(const struct unet_endpoint *ep, struct sockaddr_storage *host);

/* ---- channel.c ----------------------------------------------------------------------- */

int unet_datagram_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                          uint16_t *channel);
void unet_datagram_disconnect(struct unet_endpoint *ep, uint16_t channel);
void unet_datagram_state(struct unet_endpoint *ep, uint16_t channel);

/* Ask silent peers whether they are alive, and have the transport look, too. */
void unet_datagram_look(struct datagram_endpoint *de);

/* The entry `tell` of struct unet_ni_kind. */
void unet_datagram_tell(struct unet_ni *ni, uint16_t n);

/* The channel whose peer's frames have that key, or 0. */
uint16_t unet_datagram_find(const struct datagram_endpoint *de, uint64_t key);

/* Handle a frame without a message. */
void unet_datagram_control(struct datagram_endpoint *de, const struct unet_frame *frame,
                           const struct datagram_place *from);

/* The entry `name_opening` for transports to which all numbers are alike. */
int unet_datagram_name_opening(struct datagram_endpoint *de, uint16_t n,
                               struct datagram_link *link);

/* The entry `say` for transports whose socket takes frames unchanged. */
void unet_datagram_say(struct datagram_endpoint *de, const struct datagram_place *to,
                       const struct unet_frame *frame);

/* A frame without a message to the link's peer. */
struct unet_frame unet_datagram_control_frame(const struct datagram_endpoint *de,
                                              const struct datagram_link *link,
                                              enum unet_frame_kind kind, uint32_t life,
                                              uint32_t user);

/* The answer to an ALIVE frame for a channel that does not exist. */
struct unet_frame unet_datagram_gone_frame(const struct unet_frame *question);

/* Channel n's peer no longer exists: the channel becomes UNET_DEAD if it was open. */
void unet_datagram_gone(struct datagram_endpoint *de, uint16_t n);

/* The same of a peer that can never answer again: also if the channel was still connecting. */
void unet_datagram_lost(struct datagram_endpoint *de, uint16_t n);

/* ---- frame.c ------------------------------------------------------------------------- */

/* The entries of struct unet_datagram_ops. */
void unet_datagram_attach(struct unet_endpoint *ep, unet_packet_fn *fn, void *arg);
unsigned unet_datagram_send_packets(struct unet_endpoint *ep, const struct unet_packet *packet,
                                    unsigned count);

/* Send what is in the send queue, as far as the socket takes it.  Returns the number of
 * descriptors done with. */
int unet_datagram_service(struct datagram_endpoint *de);

/* As sendmmsg, for transports whose socket takes frames unchanged. */
int unet_datagram_submit(int socket, struct mmsghdr *message, unsigned count);

/* What a transport's `send` returns on ENOBUFS.  A busy device takes the next frame soon, but one
 * that never takes frames of this length would hold up the queue, so after some tries the frame is
 * lost. */
unsigned unet_datagram_no_room(struct datagram_endpoint *de);

/* Take in the frame at the start of `bytes`, which nobody has checked.  Returns how many bytes
 * belong to it; what follows may be another frame, or padding. */
size_t unet_datagram_arrived(struct datagram_endpoint *de, const uint8_t *bytes, size_t length,
                             const struct datagram_place *from);

/* What it does, for transports that know by other means than a frame's key whose it is: whether the
 * header is one, with `room` bytes behind it; whether it is a message's; and a message of channel
 * n's peer goes to its owner. */
bool unet_datagram_well_formed(const struct unet_frame *frame, size_t room);
bool unet_datagram_is_message(const struct unet_frame *frame);
void unet_datagram_take(struct datagram_endpoint *de, uint16_t n, const struct unet_frame *frame,
                        const uint8_t *bytes);

/* ---- train.c ------------------------------------------------------------------------- */

enum { DATAGRAM_TRAIN_MOST = 64 }; /* frames; the kernel cuts no more */

bool unet_datagram_same_peer(const struct datagram_batch *b, unsigned i, unsigned j);

/* Whether frame `first`, which could begin a train, may: for a while after the kernel has refused
 * to cut what goes to its peer, none is tried.  To be called once for each such frame. */
bool unet_datagram_train_allowed(const struct datagram_batch *b, unsigned first);

/* The kernel has refused to cut frames for that link's peer. */
void unet_datagram_train_refuse(struct datagram_link *link);

/* How many frames from `first` on go to one peer and are of one length, but for a shorter last one,
 * within so many bytes. */
unsigned unet_datagram_train_frames(const struct datagram_batch *b, unsigned first,
                                    uint32_t bytes_most);

/* The pieces of those frames, which a batch has one behind the other; a piece that begins where the
 * one before it ends is joined to it.  Returns their number. */
size_t unet_datagram_train_gather(const struct datagram_batch *b, unsigned first, unsigned frames,
                                  struct iovec *piece);

/* Whether that error of a call says that the kernel cannot cut: a segment is longer than the path
 * allows, or it or the interface does not support it. */
bool unet_datagram_train_refused(int error);

/* Take in frames that came one behind the other.  Returns how many there were. */
int unet_datagram_train_arrived(struct datagram_endpoint *de, const uint8_t *bytes, size_t length,
                                const struct datagram_place *from);

#endif
