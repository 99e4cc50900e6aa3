/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.h - the reliable endpoint from inside, for its source files.
 *
 *   endpoint.c  the operations of struct unet_ops: channels, progress, waiting
 *   messages.c  between the queues above and the engine
 *   packets.c   between the engine and the endpoint below
 *   open.c      opening and closing
 *   direct.c    direct access through the endpoint below
 *
 *          the owner
 *           |  send queue        ^  receive rings, one per channel
 *           v                    |
 *      messages.c            messages.c
 *           |                    ^
 *           v  the engine: engine.h
 *           |                    |
 *       packets.c            packets.c
 *           v                    |
 *          the endpoint below: a packet per message
 *
 * Another thread may do the network interface's work while the owner computes
 * (reliable_keepalive).  The lock guards everything but the queues, each of which has one producer
 * and one consumer, and the states of channels, which belong to the owner.
 */
#ifndef RELIABLE_ENDPOINT_H
#define RELIABLE_ENDPOINT_H

#include "engine.h"
#include <pthread.h>
#include <reliable/reliable.h>
#include <time.h>
#include <unet/unet_ni.h>

enum { RELIABLE_SEND_BUFFERS = 32 }; /* of the segment below, for packets on their way out */

/* A message that has not yet arrived in whole. */
struct reliable_assembly {
    uint32_t offset; /* of its buffer */
    uint32_t room;   /* bytes of that buffer; 0: it has none */
    uint32_t length; /* bytes so far */
    bool begun;
    bool dropped; /* there was no buffer for it, or it is longer than that */
};

/* What is kept of a channel beside `struct unet_channel`. */
struct reliable_peer {
    uint32_t rank;
    struct unet_ring in; /* rx[n], producer side */
    uint64_t connecting_since;
    struct reliable_assembly assembly;
    bool silent; /* it was found dead by the engine, or never answered */
};

struct reliable_endpoint {
    struct unet_endpoint ep; /* first: the interface knows only this */
    struct unet_endpoint *lower;
    uint32_t rank;
    uint32_t ranks;
    pthread_mutex_t lock;
    uint32_t turns;      /* of the network interface so far, */
    uint32_t turns_seen; /* and as reliable_keepalive last saw it */
    uint64_t timeout_us; /* of peers */
    struct reliable_engine *engine;
    struct reliable_peer *peer; /* by channel */
    uint16_t *channel_of;       /* by rank; 0: none */
    struct unet_ring tx;        /* the send queue, consumer side */
    struct unet_ring free;      /* the free queue, consumer side */
    struct unet_ring errors;    /* rx[0], producer side */
    struct unet_ring full;      /* always looks full: the ring of channels that cannot send */
    uint32_t bell;              /* always set: every send wants a kick */
    uint32_t changes;           /* channels that opened or died so far */
    uint32_t buffer_bytes;      /* of each buffer below: the longest packet */
    bool corked;                /* packets wait for unet_uncork */
    bool packets_wait;          /* and there are some */
    bool lingered;              /* disconnecting has waited for acknowledgements once already */
    bool direct;                /* direct access is open */
    uint64_t received_at_cork;
    uint32_t buffer_next; /* the send buffer to be used next */
    uint32_t ticket[RELIABLE_SEND_BUFFERS];
    bool busy[RELIABLE_SEND_BUFFERS];
    void *memory; /* rings and segment */
    size_t memory_bytes;
};

static inline struct reliable_endpoint *reliable_of(struct unet_endpoint *ep)
{
    return (struct reliable_endpoint *)ep;
}

static inline uint64_t reliable_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* The engine's clock must not go back, so it is read after the lock was taken. */
static inline void reliable_lock(struct reliable_endpoint *r)
{
    pthread_mutex_lock(&r->lock);
}

static inline void reliable_unlock(struct reliable_endpoint *r)
{
    pthread_mutex_unlock(&r->lock);
}

/* Whether messages wait in the send queue for room in their peers' windows. */
static inline bool reliable_messages_queued(const struct reliable_endpoint *r)
{
    return r->tx.position != r->ep.tx.position;
}

/* ---- endpoint.c ----------------------------------------------------------------- */

extern const struct unet_ops reliable_endpoint_ops;

/* ---- messages.c: all under the lock ------------------------------------------------ */

/* reliable_deliver_fn */
void reliable_messages_deliver(void *arg, uint32_t source, uint32_t user, const void *data,
                               size_t length, bool more);

/* Moves messages from the send queue to the engine.  Returns their number. */
int reliable_messages_send(struct reliable_endpoint *r, uint64_t now);

/* ---- packets.c: all under the lock ------------------------------------------------- */

/* Sends the packets that are due. */
void reliable_packets_send(struct reliable_endpoint *r, uint64_t now);

/* Gives packets that arrived to the engine.  Returns their number. */
int reliable_packets_receive(struct reliable_endpoint *r, uint64_t now);

/* ---- open.c ------------------------------------------------------------------------- */

void reliable_endpoint_close(struct unet_endpoint *ep);

#endif
