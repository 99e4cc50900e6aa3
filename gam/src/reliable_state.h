/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reliable_state.h - the reliable endpoint from inside, for its sources.
 *
 *   reliable.c         what its owner does with it: channels, sending, waiting
 *   reliable_direct.c  direct access through the endpoint below
 *   reliable_move.c    messages and packets, in and out
 *   reliable_open.c    opening and closing
 *
 * GAM writes into the send queue and reads from the receive rings of an endpoint like any other.
 * Its network interface is here: it moves messages between these queues and the protocol
 * (net.h), and packets between the protocol and the endpoint below.
 *
 *        GAM
 *         |  send queue        ^  receive rings, one per channel
 *         v                    |
 *     take_sends            deliver
 *         |                    ^
 *         v    the protocol    |
 *     send_packets        receive_packets
 *         |                    ^
 *         v                    |
 *        the endpoint below: packets in buffers of its segment
 *
 * As a network interface of its own it may work while its owner computes: then another thread
 * calls gam_reliable_keep.  The lock guards all but the queues, which need none, and the states
 * of channels, which are the owner's.
 */
#ifndef GAM_RELIABLE_STATE_H
#define GAM_RELIABLE_STATE_H

#include "reliable.h"
#include <pthread.h>
#include <time.h>

enum { GAM_RELIABLE_SENDS = 32 }; /* buffers for packets below us on their way out */

/* A message that has not yet arrived in whole. */
struct gam_assembly {
    uint32_t offset; /* of its buffer */
    uint32_t room;   /* of that buffer; 0: it has none */
    uint32_t length; /* so far */
    bool begun;
    bool spoilt; /* it found no buffer, or is longer than that */
};

/* What we keep of a channel beside `struct unet_channel`. */
struct gam_line {
    uint32_t rank;
    struct unet_ring in; /* rx[n], the NI's side */
    uint64_t since;      /* when it began to connect */
    struct gam_assembly assembly;
    bool silent; /* its peer does not answer */
};

struct gam_reliable {
    struct unet_endpoint ep; /* first: the interface knows only this */
    struct unet_endpoint *lower;
    pthread_mutex_t lock;
    uint32_t turns;      /* of the interface so far */
    uint32_t kept;       /* as gam_reliable_keep last saw it */
    uint64_t timeout_us; /* of peers */
    struct gam_net *net;
    struct gam_line *line; /* by channel */
    uint16_t *channel;     /* by rank */
    struct unet_ring tx;   /* the send queue, the NI's side */
    struct unet_ring free; /* the free queue, the NI's side */
    struct unet_ring full; /* always looks full: where a channel sends that cannot */
    uint32_t bell;         /* always set: every send wants a kick */
    uint32_t changes;      /* channels that opened or died so far */
    uint32_t buffer_bytes; /* of each packet below */
    bool gathering;        /* messages wait for others: the owner's */
    bool gathered;         /* and some do */
    uint32_t buffer_next;  /* the send buffer whose turn it is */
    uint32_t ticket[GAM_RELIABLE_SENDS];
    bool busy[GAM_RELIABLE_SENDS];
    void *memory; /* rings and segment */
    size_t memory_bytes;
};

static inline struct gam_reliable *gam_reliable_of(struct unet_endpoint *ep)
{
    return (struct gam_reliable *)ep;
}

static inline uint64_t gam_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Whether messages of GAM wait for room in their peers' windows. */
static inline bool gam_reliable_queued(const struct gam_reliable *r)
{
    return r->tx.position != r->ep.tx.position;
}

/* ---- reliable.c ---------------------------------------------------------------- */

extern const struct unet_ops gam_reliable_ops;

/* ---- reliable_move.c ----------------------------------------------------------- */

/* What the protocol tells: gam_net_deliver_fn, gam_net_died_fn. */
void gam_reliable_deliver(void *arg, uint32_t source, uint32_t user, const void *data,
                          size_t length, bool more);
void gam_reliable_died(void *arg, uint32_t rank);

/* The steps of the interface, under the lock.  Those that return something count messages, and
 * packets. */
int gam_take_sends(struct gam_reliable *r, uint64_t now);
void gam_send_packets(struct gam_reliable *r, uint64_t now);
int gam_receive_packets(struct gam_reliable *r, uint64_t now);

/* ---- reliable_open.c ----------------------------------------------------------- */

void gam_reliable_close(struct unet_endpoint *ep);

#endif
