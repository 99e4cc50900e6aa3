/* SPDX-License-Identifier: BSD-3-Clause
 *
 * shared_memory.h - endpoints whose network interface is the sending process.
 *
 * Loopback and shm are the same machine: the sender writes into the receiver's
 * memory (area.h).  They differ in where that memory comes from and in how a peer
 * finds it; those four functions are a `sm_transport`, all the rest is here.
 *
 *   area.c      the shared memory: lanes, free queue
 *   ni.c        servicing the send queue
 *   link.c      channels: connecting, noticing the end, disconnecting
 *   endpoint.c  opening, progress, waiting
 */
#ifndef UNET_SHARED_MEMORY_H
#define UNET_SHARED_MEMORY_H

#include "core/core.h"
#include "shared_memory/area.h"

#include <unet/unet_ni.h>

/* A peer's endpoint, as reached by the transport. */
struct sm_peer {
    struct sm_area area;
    int bell;     /* the doorbell's write end; -1 if the peer is polled */
    int process;  /* pidfd of its process; -1 if it is ours, or there are no pidfds */
    void *handle; /* the transport's */
};

struct sm_endpoint;

struct sm_transport {
    /* Make `bytes` of zeroed memory that peers can reach, with the endpoint's doorbell
     * (already open unless it is polled), and set the endpoint's address; may fill `handle` and
     * `fd`. */
    int (*create)(struct sm_endpoint *se, const uint64_t nonce[2], uint64_t bytes, void **memory);
    /* Undo it: no peer can find the endpoint any more.  A transport that keeps the doorbell for
     * peers that still use it sets the endpoint's to -1. */
    void (*destroy)(struct sm_endpoint *se);
    /* Find the endpoint at an address.  Errors: those of unet_connect. */
    int (*reach)(const struct unet_address *address, struct sm_peer *peer);
    void (*leave)(struct sm_peer *peer);
};

/* What the endpoint keeps of one channel beside `struct unet_channel`. */
struct sm_link {
    struct sm_peer peer;
    struct unet_ring out;    /* our lane at the peer, producer side */
    uint64_t key_in;         /* under which we offer our lane */
    uint64_t key_out;        /* under which the peer offers its */
    uint32_t generation;     /* of our lane; survives the link */
    uint32_t out_generation; /* of the peer's lane */
    uint32_t offers_seen;    /* the peer's count when we last looked for our lane */
    uint32_t queued;         /* descriptors of the channel in the send queue */
    uint16_t out_lane;       /* the peer's lane we are attached to, or 0 */
};

struct sm_endpoint {
    struct unet_ni ni; /* first */
    const struct sm_transport *transport;
    struct sm_area own;
    struct sm_link *link; /* by channel number */
    uint32_t tx_seen;     /* position in the send queue up to which `queued` counts */
    int epoll;            /* the doorbell and the peers' processes */
    int fd;               /* the transport's */
    void *handle;         /* the transport's */
};

static inline struct sm_endpoint *sm_of(struct unet_endpoint *ep)
{
    return (struct sm_endpoint *)ep;
}

/* ---- ni.c ------------------------------------------------------------------ */

/* Send what is in the send queue, in its order, as far as there is room.  Returns
 * the number of descriptors done with. */
int unet_sm_service(struct sm_endpoint *se);

/* The channel's inline messages go straight to the peer, or into the send queue
 * while something of the channel waits there. */
void unet_sm_aim(struct sm_endpoint *se, uint16_t channel);

/* Wake the peer if it sleeps and the state of our lane is one it waits for. */
void unet_sm_notify(struct sm_endpoint *se, uint16_t channel);

/* Wake the peer if it sleeps at all. */
void unet_sm_wake(struct sm_endpoint *se, uint16_t channel);

/* ---- link.c ---------------------------------------------------------------- */

int unet_sm_connect(struct unet_endpoint *ep, const struct unet_address *peer, uint64_t tag,
                    uint16_t *channel);
void unet_sm_disconnect(struct unet_endpoint *ep, uint16_t channel);
void unet_sm_update(struct unet_endpoint *ep, uint16_t channel);

/* Whether the process of a pidfd has ended; false if there is none (-1). */
bool unet_sm_has_ended(int process);

/* Open every channel whose peer has opened its side. */
void unet_sm_find_opened(struct sm_endpoint *se);
/* Notice peers that closed in good order.  No system call. */
void unet_sm_find_closed(struct sm_endpoint *se);
/* The peer is gone: the channel becomes UNET_DEAD. */
void unet_sm_set_dead(struct sm_endpoint *se, uint16_t channel);
/* Leave the peer of a closed channel, whether or not it has detached from our lane. */
void unet_sm_drop_peer(struct sm_endpoint *se, uint16_t channel);

/* ---- endpoint.c ------------------------------------------------------------ */

int unet_sm_open(const struct unet_ops *ops, const struct sm_transport *transport,
                 uint32_t capabilities, const struct unet_config *config,
                 struct unet_endpoint **endpoint);
void unet_sm_close(struct unet_endpoint *ep);

/* Note the peers whose processes have ended, and sleep for at most `ms` until one ends or the bell
 * rings.  A mere look (0) leaves the bell alone: it may be an upcall's, or the application's own
 * poll may be about to see it.  Returns 1 if there was something, 0, or -errno. */
int unet_sm_sleep(struct sm_endpoint *se, int ms);
int unet_sm_watch(struct sm_endpoint *se, int fd, uint32_t what);

void unet_sm_kick(struct unet_endpoint *ep, uint16_t channel);
int unet_sm_progress(struct unet_endpoint *ep);

#endif
