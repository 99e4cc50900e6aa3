/* SPDX-License-Identifier: BSD-3-Clause
 *
 * endpoint.h - the reliable endpoint from inside, for its source files.
 *
 *   endpoint.c  the operations of struct unet_ops: channels, progress, waiting
 *   output.c    those of sending, corked or not
 *   messages.c  between the queues above and the engine
 *   packets.c   between the engine and the endpoint below, by its queues,
 *   datagrams.c or past them, where it offers that
 *   open.c      opening and closing
 *   direct.c    direct access through the endpoint below
 *   streams.c   bulk by TCP beside the packets: stream.h
 *
 *          the owner
 *           |  send queue        ^  receive rings, one per channel
 *           v                    |
 *      messages.c            messages.c
 *           |                    ^
 *           v  the engine: engine.h
 *           |                    |
 *    packets.c or datagrams.c, both ways
 *           v                    |
 *          the endpoint below: a packet per message
 *
 * Another thread may do the network interface's work while the owner computes
 * (reliable_keepalive).  The lock guards the engine, the endpoint below, the network interface's
 * sides of the queues and the states of channels.
 */
#ifndef RELIABLE_ENDPOINT_H
#define RELIABLE_ENDPOINT_H

#include "engine.h"
#include "stream.h"
#include <pthread.h>
#include <reliable/reliable.h>
#include <unet/unet_ni.h>

enum {
    RELIABLE_SEND_BUFFERS = 32, /* of the segment below, for packets on their way out */
    RELIABLE_CHANNELS_FEW = 16, /* all may be looked at in each turn */
};

/* A message that has not yet arrived in whole. */
struct reliable_assembly {
    uint32_t offset; /* of its buffer */
    uint32_t room;   /* bytes of that buffer; 0: it has none */
    uint32_t length; /* bytes so far, those of the header of a placed message not counted */
    bool begun;
    bool dropped; /* there was no buffer for it, or it is longer than that */
    bool placed;  /* it goes where the owner wants it, with this header and so much room */
    struct unet_place place; /* of the bytes that come next */
    size_t room_there;
    uint32_t unplaced; /* the position of the receive ring behind the last message that was not */
    uint64_t header[UNET_PLACED_HEADER / 8];
};

/* What is kept of a channel: a link of unet_ni.h. */
struct reliable_peer {
    uint32_t rank;
    uint32_t bulk_kib; /* that went to it by packets, about, before a stream was asked for */
    uint64_t connecting_since;
    struct reliable_assembly assembly;
    struct reliable_stream *stream; /* NULL: there is none */
    bool silent;                    /* it was found dead by the engine, or never answered */
};

struct reliable_endpoint {
    struct unet_ni ni; /* first */

    /* constant while it is open */
    struct unet_endpoint *lower;
    const struct unet_datagram_ops *datagrams; /* of the endpoint below; NULL: it has none */
    struct reliable_engine *engine;
    struct reliable_peer *peer; /* by channel */
    uint16_t *channel_of;       /* by rank; 0: none */
    uint32_t rank;
    uint32_t ranks;
    uint32_t buffer_bytes; /* of each buffer below: the longest packet */
    uint64_t timeout_us;   /* of peers */
    unet_placement_fn *placement;
    void *placement_arg;
    pthread_mutex_t lock;

    /* the owner's */
    bool corked;               /* packets wait for unet_uncork */
    bool cork_sent;            /* some of them did not wait */
    size_t corked_bytes;       /* of messages, that wait */
    bool packets_wait;         /* and there are some */
    bool armed;                /* from unet_arm to unet_disarm, with the lock taken */
    bool direct;               /* direct access is open */
    uint64_t received_at_cork; /* messages read until then */
    uint64_t linger_left_us;   /* what disconnecting may still wait, in all */

    /* under the lock */
    bool kept_alive;     /* another thread than the owner is at work: reliable_keepalive */
    uint64_t turn_now;   /* the time in a turn of the network interface; 0: there is none now */
    uint32_t turns;      /* of the network interface so far, */
    uint32_t turns_seen; /* and as reliable_keepalive last saw it */
    uint64_t turned;     /* when the latest began */
    uint64_t states_at;  /* and when the states of channels were last brought up to date */

    struct reliable_streams streams;

    /* messages.c, under the lock: of the owner's free buffers those that were collected, as its
     * free queue has them, and at most as many as that has slots */
    uint64_t *buffer;
    uint32_t buffers;

    /* packets.c, under the lock */
    uint32_t buffer_next; /* the send buffer to be used next */
    uint32_t ticket[RELIABLE_SEND_BUFFERS];
    bool busy[RELIABLE_SEND_BUFFERS];

    /* datagrams.c, under the lock */
    uint8_t *aligned;                          /* room for a packet that arrived elsewhere than at a
                                                  multiple of 8 */
    struct unet_packet unsent[RELIABLE_BATCH]; /* which the network has not taken yet, */
    unsigned unsent_first, unsent_end;         /* from there to there, */
    uint8_t *unsent_bytes;                     /* and their copies; NULL: there never were any */
};

static inline struct reliable_endpoint *reliable_of(const struct unet_endpoint *ep)
{
    return (struct reliable_endpoint *)ep;
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
    return r->ni.tx.position != r->ni.ep.tx.position;
}

/* ---- streams, on the paths of all messages: inline, because most have none ---------- */

/* Whether what is corked for a channel goes by its stream. */
static inline bool reliable_stream_is_corked(const struct reliable_endpoint *r, uint16_t channel)
{
    return r->streams.corked && r->streams.corked->channel == channel;
}

/* Whether the next message for a channel goes by a packet, and nothing has to be told before. */
static inline bool reliable_stream_is_left(const struct reliable_endpoint *r)
{
    return r->streams.owed == 0 && !r->streams.begun;
}

/* The next message for a channel goes by a packet.  Errors: those of reliable_engine_note. */
static inline int reliable_stream_leave(struct reliable_endpoint *r, uint64_t now, uint16_t channel)
{
    return reliable_stream_is_left(r) ? 0 : reliable_stream_give_way(r, now, channel);
}

/* ---- endpoint.c ----------------------------------------------------------------- */

extern const struct unet_ops reliable_endpoint_ops;
extern const struct unet_ni_kind reliable_endpoint_kind;

/* ---- output.c: operations -------------------------------------------------------- */

void reliable_output_kick(struct unet_endpoint *ep, uint16_t channel);
int reliable_output_sendv(struct unet_endpoint *ep, uint16_t channel, uint32_t user,
                          const struct iovec *iov, uint32_t count);
void reliable_output_cork(struct unet_endpoint *ep, uint16_t channel, size_t bytes);
void reliable_output_uncork(struct unet_endpoint *ep);

/* Sends the packets that are due, under the lock.  True: there were some. */
bool reliable_output_send(struct reliable_endpoint *r, uint64_t now);

/* ---- messages.c: all under the lock ------------------------------------------------ */

/* reliable_deliver_fn */
void reliable_messages_deliver(void *arg, uint32_t source, uint32_t user, const void *data,
                               size_t length, bool more);

/* Moves messages from the send queue to the engine.  Returns their number. */
int reliable_messages_send(struct reliable_endpoint *r, uint64_t now);

/* The same for those that reliable_engine_append takes, up to the first other one.  True: there is
 * no other one. */
bool reliable_messages_append(struct reliable_endpoint *r);

/* ---- datagrams.c: all under the lock ----------------------------------------------- */

/* From now on what arrives below goes to the engine, during any call of the endpoint below.
 * Errors: -ENOMEM. */
int reliable_datagrams_open(struct reliable_endpoint *r);
void reliable_datagrams_close(struct reliable_endpoint *r);

/* Sends the packets that are due.  True: there were some. */
bool reliable_datagrams_send(struct reliable_endpoint *r, uint64_t now);

/* ---- packets.c: all under the lock ------------------------------------------------- */

/* The same, by the queues below. */
bool reliable_packets_send(struct reliable_endpoint *r, uint64_t now);

/* Gives packets that arrived to the engine.  Returns their number. */
int reliable_packets_receive(struct reliable_endpoint *r, uint64_t now);

/* How many receive buffers the endpoint below has room for, and posts them.
 * Errors: those of unet_free_put. */
uint32_t reliable_packets_buffers(const struct reliable_endpoint *r);
int reliable_packets_open(struct reliable_endpoint *r);

/* ---- open.c ------------------------------------------------------------------------- */

void reliable_endpoint_close(struct unet_endpoint *ep);

#endif
