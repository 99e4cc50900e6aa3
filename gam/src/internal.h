/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - the instance, its peers, and what its source files share.
 *
 * Flow control.  Each class of message has a window per peer.  A sender spends
 * one credit per message; the receiver owes it back from the moment the message's
 * handler starts, and pays with whatever flows to that peer next: a reply, a
 * request, a piece of a transfer, or, when nothing flows, an explicit ack.  Since
 * a reply always pays at least the credit of its own request, the receive ring
 * needs two slots per credit and no reply ever has to wait for room.
 *
 * A reply that finds no room all the same (a medium reply beyond the bulk window,
 * a send queue that the interface has not emptied yet) is put aside in memory
 * together with its request's credit, so that at most a window of them exists.
 */
#ifndef GAM_INTERNAL_H
#define GAM_INTERNAL_H

#include "wire.h"
#include <errno.h>
#include <gam/gam.h>
#include <string.h>
#include <unet/unet.h>

#define gam_likely(x) __builtin_expect(!!(x), 1)
#define gam_unlikely(x) __builtin_expect(!!(x), 0)
#define GAM_COLD __attribute__((noinline, cold))

/* Who is running: the calls of gam.h made from a handler are checked against it. */
enum gam_context {
    GAM_MAIN = 0,
    GAM_IN_REQUEST = 1, /* a request's handler: may reply once */
    GAM_IN_REPLY = 2,   /* a reply's handler, or a completion function */
};

/* Peers with something to be done out of line. */
enum gam_list {
    GAM_OWING = 0,   /* we owe it credits */
    GAM_WORKING = 1, /* replies put aside, or transfers to move on */
    GAM_LISTS = 2,
};

/* Bytes on their way to a peer, cut into pieces: a store of ours, or the answer
 * to a get of the peer's. */
struct gam_stream {
    const uint8_t *from;
    struct gam_place place; /* of the next piece */
    uint32_t user;
    bool finished;
};

/* A store, from its call until its source may be reused. */
struct gam_transfer {
    struct gam_stream stream;
    struct gam_transfer *next;
    int status; /* -EINPROGRESS, then what the call returns */
    bool async; /* from the heap; `done` tells its end */
    gam_done_fn *done;
    void *done_arg;
};

/* A reply put aside. */
struct gam_deferred {
    struct gam_deferred *next;
    uint32_t user;
    enum gam_class paid_by; /* the class of its request, whose credit it holds */
    size_t length;
    union gam_header header;
    uint8_t data[];
};

/* All about one rank.  The first line is what small messages touch. */
struct gam_peer {
    uint32_t credits[GAM_CLASSES]; /* messages that we may send */
    uint32_t owed[GAM_CLASSES];    /* credits to be given back */
    struct gam_deferred *deferred; /* oldest first */
    struct unet_endpoint *ep;      /* that leads to it */
    struct gam_port *port;         /* the same, and the rest of it */
    uint32_t rank;
    uint16_t channel;
    uint8_t limit[GAM_CLASSES]; /* the windows, its and ours */
    bool dead;
    bool on[GAM_LISTS];
    bool answer_next; /* transfers take turns: the next piece answers a get */
    uint32_t deferred_count;

    struct gam_deferred **deferred_end __attribute__((aligned(64)));
    struct gam_transfer *stores; /* ours to it, oldest first */
    struct gam_transfer **stores_end;
    struct gam_stream *answers; /* ring of GAM_SMALL's window of gets of its */
    uint32_t answers_first;
    uint32_t answers_count;
    uint32_t gets; /* ours that it has not answered in full */
    struct gam_peer *next[GAM_LISTS];
} __attribute__((aligned(64)));

/* A send buffer of the segment. */
struct gam_buffer {
    uint32_t ticket;
    bool busy; /* the network interface may still read it */
};

#define GAM_SEND_BUFFERS 16u
#define GAM_PORTS 2u

/* Where the receive buffers of a segment begin. */
#define GAM_RECEIVE_BASE (GAM_SEND_BUFFERS * GAM_BUFFER_BYTES)

/* Messages per peer that may be on their way. */
struct gam_windows {
    uint32_t limit[GAM_CLASSES];
};

/* A way to peers: an endpoint, and what we keep of it. */
struct gam_port {
    struct unet_endpoint *ep;
    struct gam_port *next; /* to be looked at after this one; they are a circle */
    struct gam_peer **by_channel;
    struct gam_windows windows; /* of all peers that it leads to */
    uint32_t receive_end;       /* offset behind its last receive buffer */
    struct gam_buffer buffer[GAM_SEND_BUFFERS];
    uint32_t buffer_next;
};

struct gam {
    struct gam_port *look; /* the port to look at next */
    struct gam_peer *peer; /* by rank */
    uint32_t ranks;
    uint32_t ports; /* how many of `port` are in use */

    enum gam_context context;
    struct gam_peer *serving;       /* whose message is being worked on */
    struct gam_peer *requester;     /* whose request is being handled */
    enum gam_class requester_class; /* the class of that request */
    bool replied;

    struct gam_peer *list[GAM_LISTS];
    gam_handler_fn *handler[GAM_HANDLERS];

    struct gam_stats stats;
    struct gam_stream *answers; /* all peers' rings of gets */
    struct gam_port port[GAM_PORTS];
    size_t pending;
    uint32_t idle_polls;
    uint32_t quiet_polls;         /* since the last message */
    uint32_t quiet_before_paying; /* so many pass before credits are given back unasked */
    uint32_t check_next;          /* the rank whose life is looked at next */
    int64_t checked_ms;           /* when that was done last */
    int64_t dead;
    uint32_t rank;
};

/* ---- lists ------------------------------------------------------------- */

static inline void gam_list_add(struct gam *g, struct gam_peer *peer, enum gam_list list)
{
    if (peer->on[list])
        return;
    peer->on[list] = true;
    peer->next[list] = g->list[list];
    g->list[list] = peer;
}

/* ---- composing --------------------------------------------------------- */

/* The credits owed, as they stand in `user`.  The caller clears them with
 * gam_paid once the message is on its way. */
static inline uint32_t gam_payment(const struct gam_peer *peer)
{
    return peer->owed[GAM_SMALL] << 16 | peer->owed[GAM_BULK] << 24;
}

static inline void gam_paid(struct gam_peer *peer)
{
    peer->owed[GAM_SMALL] = 0;
    peer->owed[GAM_BULK] = 0;
}

/* The words of a small message.  They are passed by value and go to the slot one by one, so that
 * they do so from registers.  Put together on the stack, to be copied in larger pieces, they would
 * wait until the message before has reached the cache.  Functions that are not inlined
 * take them one by one, too, or the compiler puts them together for their sake. */
struct gam_words {
    uint64_t word[GAM_WORDS_MAX];
};

static inline __attribute__((always_inline)) void gam_put_words(struct unet_desc *slot,
                                                                uint32_t words, struct gam_words w)
{
    switch (words) {
    case 4:
        __atomic_store_n(&slot->word[3], w.word[3], __ATOMIC_RELAXED); /* fall through */
    case 3:
        __atomic_store_n(&slot->word[2], w.word[2], __ATOMIC_RELAXED); /* fall through */
    case 2:
        __atomic_store_n(&slot->word[1], w.word[1], __ATOMIC_RELAXED); /* fall through */
    case 1:
        __atomic_store_n(&slot->word[0], w.word[0], __ATOMIC_RELAXED);
    }
}

/* Those of a caller's array. */
static inline struct gam_words gam_words_of(uint32_t words, const uint64_t word[])
{
    struct gam_words w = {{0}};

    if (words > 0)
        memcpy(w.word, word, words * sizeof(word[0]));
    return w;
}

/* Send an inline message: words and what we owe.  -EAGAIN: no slot now. */
static inline __attribute__((always_inline)) int gam_put(struct gam_peer *peer, uint32_t user,
                                                         uint32_t words, struct gam_words w)
{
    const uint32_t payment = gam_payment(peer);
    struct unet_desc *slot = unet_inline_begin(peer->ep, peer->channel);

    if (gam_unlikely(!slot))
        return -EAGAIN;
    gam_put_words(slot, words, w);
    if (payment)
        gam_paid(peer);
    unet_inline_end(peer->ep, peer->channel, words * 8, user | payment);
    return 0;
}

/* ---- receive.c --------------------------------------------------------- */

/* One look at the receive rings, all messages if there is one. */
static inline void gam_look(struct gam *g)
{
    struct unet_endpoint *ep = g->look->ep;

    if (gam_unlikely(ep->rx_next >= ep->rx_rings || unet_ring_peek(&ep->rx[ep->rx_next]))) {
        gam_poll(g);
    } else if (++ep->rx_next >= ep->rx_rings) {
        ep->rx_next = 0;
        g->look = g->look->next;
    }
}

/* Give back the credits that are owed. */
void gam_settle_all(struct gam *g);

/* Run a handler in its context. */
void gam_run(struct gam *g, enum gam_context context, gam_handler_fn *fn,
             const struct gam_message *m);

/* ---- bulk.c ------------------------------------------------------------- */

/* Send a message of class bulk.  -EAGAIN: no credit, slot or buffer now. */
int gam_carry(struct gam_peer *peer, uint32_t user, const union gam_header *header,
              const void *data, size_t length);

/* A message of class bulk as it arrived. */
struct gam_bulk {
    struct gam_peer *peer;
    uint32_t user;
    size_t length; /* bytes at `data` */
    void *data;
    union gam_header header;
};
void gam_bulk_arrived(struct gam *g, const struct gam_bulk *bulk);

/* ---- transfer.c --------------------------------------------------------- */

void gam_get_arrived(struct gam *g, struct gam_peer *peer, uint32_t user, const uint64_t word[]);

/* Move on what waits for this peer.  True when nothing is left. */
bool gam_work(struct gam *g, struct gam_peer *peer);

/* Give up every store to, and every get from, a dead peer. */
void gam_transfers_drop(struct gam *g, struct gam_peer *peer);

/* ---- reply.c ------------------------------------------------------------ */

/* Send the replies that were put aside.  True when none is left. */
bool gam_deferred_send(struct gam_peer *peer);
void gam_deferred_drop(struct gam_peer *peer);

/* ---- wait.c ------------------------------------------------------------- */

/* One step of waiting for something of this peer: poll, and if nothing came
 * spin, yield or sleep a little, more so the longer it lasts.  `rounds` starts at 0.
 * -EPIPE: the peer is dead. */
int gam_pause(struct gam *g, struct gam_peer *peer, uint32_t *rounds);

/* Ask the interface whether the peer is dead; true if it is. */
bool gam_check(struct gam *g, struct gam_peer *peer);

/* Look after some peers, each in its turn, if the last look was long enough ago. */
void gam_check_some(struct gam *g);

/* ---- request.c ---------------------------------------------------------- */

/* -EPERM and counted when called from a handler, else -EINVAL. */
int gam_refuse_call(struct gam *g);

static inline bool gam_handler_ok(uint32_t handler)
{
    return handler - 1 < GAM_HANDLERS - 1;
}

/* n bytes at an address: something there, and no wrap. */
static inline bool gam_range_ok(uint64_t address, uint64_t n)
{
    return n == 0 || (address != 0 && address + n > address);
}

#endif
