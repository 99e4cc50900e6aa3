/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - the instance, its peers, and what its source files share.
 *
 * Flow control.  Each class of message has a window of credits per peer.  A sender spends one
 * credit per message.  The receiver owes that credit from the moment the message's handler starts,
 * and returns it with whatever it sends to that peer next: a reply, a request, a piece of a
 * transfer, or, when nothing is sent, an explicit acknowledgement.  Since a reply always returns at
 * least the credit of its own request, a receive ring with two slots per credit has room for every
 * reply.
 *
 * A reply that finds no room all the same (a medium reply beyond the bulk window, or a send queue
 * that the interface has not emptied yet) is deferred: it is kept in memory together with the
 * credit of its request, so that at most a window of deferred replies exists.
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

/* Which code is running.  The calls of gam.h check it, because handlers may not make all of them.
 */
enum gam_context {
    GAM_MAIN = 0,
    GAM_IN_REQUEST = 1, /* the handler of a request, which may reply once */
    GAM_IN_REPLY = 2,   /* the handler of a reply, or a completion function: may send nothing */
};

enum { GAM_LEFT_MOST = 16 };

/* Lists of peers that need attention apart from messages. */
enum gam_list {
    GAM_OWING = 0,   /* credits have to be returned to it */
    GAM_WORKING = 1, /* it has deferred replies or unfinished transfers */
    GAM_LISTS = 2,
};

/* Data that is sent to a peer in pieces: a store of ours, or the answer to a get of the peer's. */
struct gam_stream {
    const uint8_t *from;
    struct gam_place place; /* where the next piece goes */
    uint32_t user;
    bool finished;
};

/* A store, or medium messages, from the call until their source may be reused.  Which of them it is
 * says the kind in the stream's `user`. */
struct gam_transfer {
    struct gam_stream stream; /* of rows: base is the first row's address, total is of all */
    struct gam_rows rows;
    union gam_header header; /* of each medium message, */
    size_t each;             /* and its length, but for the last one */
    struct gam_transfer *next;
    int status; /* -EINPROGRESS, then what the call returns */
    bool async; /* allocated; `done` is called when it ends */
    gam_done_fn *done;
    void *done_arg;
};

/* A deferred reply. */
struct gam_deferred {
    struct gam_deferred *next;
    uint32_t user;
    enum gam_class request_class; /* of its request, whose credit it holds */
    size_t length;
    union gam_header header;
    uint8_t data[];
};

/* The state of one peer.  Small messages touch the first cache line only. */
struct gam_peer {
    uint32_t credits[GAM_CLASSES]; /* messages that we may send */
    uint32_t owed[GAM_CLASSES];    /* credits to be returned */
    struct gam_deferred *deferred; /* oldest first */
    struct unet_endpoint *ep;      /* that leads to it */
    struct gam_port *port;         /* of that endpoint */
    uint32_t rank;
    uint16_t channel;
    uint8_t limit[GAM_CLASSES]; /* the windows, which both sides have in common */
    bool dead;
    bool on[GAM_LISTS];
    bool answer_next; /* stores and answers to gets take turns: an answer is next */
    uint32_t deferred_count;

    struct gam_deferred **deferred_end __attribute__((aligned(64)));
    struct gam_transfer *stores; /* ours to it, oldest first */
    struct gam_transfer **stores_end;
    struct gam_stream *answers; /* to its gets: a ring as long as the small window */
    uint32_t answers_first;
    uint32_t answers_count;
    uint32_t gets; /* of ours that it has not answered in full */
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

/* Messages per peer that may be in flight. */
struct gam_windows {
    uint32_t limit[GAM_CLASSES];
};

/* An endpoint of the instance. */
struct gam_port {
    struct unet_endpoint *ep;
    struct gam_port *next; /* to be polled after this one; ports form a circle */
    struct gam_peer **by_channel;
    struct gam_windows windows; /* of all peers that it leads to */
    uint32_t receive_end;       /* offset of the end of its last receive buffer */
    struct gam_buffer buffer[GAM_SEND_BUFFERS];
    uint32_t buffer_next;
};

struct gam {
    struct gam_port *look; /* the port to be polled next */
    struct gam_peer *peer; /* by rank */
    uint32_t ranks;
    uint32_t ports; /* how many of `port` are in use */

    enum gam_context context;
    struct gam_peer *serving;       /* the peer whose message is being processed */
    struct gam_peer *requester;     /* whose request is being handled */
    enum gam_class requester_class; /* the class of that request */
    bool replied;

    struct gam_peer *list[GAM_LISTS];
    uint32_t left[GAM_LEFT_MOST]; /* ranks for which something was left when it was pushed, */
    uint32_t left_count;          /* the first ones of them: the others have to wait */
    gam_handler_fn *handler[GAM_HANDLERS];
    gam_placement_fn *place; /* NULL: nothing is let in */
    void *place_arg;
    struct gam_memory memory; /* find is NULL: none is mapped */

    struct gam_stats stats;
    struct gam_stream *answers; /* all peers' rings of gets */
    struct gam_port port[GAM_PORTS];
    size_t pending;
    uint32_t idle_polls;
    uint32_t quiet_polls;      /* since the last message */
    uint32_t quiet_before_ack; /* empty polls before credits are returned by a message of their
                                  own */
    uint32_t check_next;       /* the rank whose channel is checked next */
    int64_t checked_ms;        /* when channels were checked last */
    int64_t dead;              /* the first rank found dead, or -1 */
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

/* The credits owed, as the bits of `user` that return them.  The caller clears them with
 * gam_credits_paid when the message was sent. */
static inline uint32_t gam_credits_owed(const struct gam_peer *peer)
{
    return peer->owed[GAM_SMALL] << 16 | peer->owed[GAM_BULK] << 24;
}

static inline void gam_credits_paid(struct gam_peer *peer)
{
    peer->owed[GAM_SMALL] = 0;
    peer->owed[GAM_BULK] = 0;
}

/* The words of a small message.  They are passed by value and stored one by one, so that they go
 * to the slot from registers.  If they were assembled on the stack and copied in larger pieces, the
 * loads would have to wait for the stores (store forwarding fails for different sizes).  Functions
 * that are not inlined take them one by one, too, because otherwise the compiler assembles them. */
struct gam_words {
    uint64_t word[GAM_WORDS_MAX];
};

static inline __attribute__((always_inline)) void
gam_words_store(struct unet_desc *slot, uint32_t words, struct gam_words w)
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

/* Send an inline message, which also returns credits.  -EAGAIN: no slot now. */
static inline __attribute__((always_inline)) int
gam_small_send(struct gam_peer *peer, uint32_t user, uint32_t words, struct gam_words w)
{
    const uint32_t payment = gam_credits_owed(peer);
    struct unet_desc *slot = unet_inline_begin(peer->ep, peer->channel);

    if (gam_unlikely(!slot))
        return -EAGAIN;
    gam_words_store(slot, words, w);
    if (payment)
        gam_credits_paid(peer);
    unet_inline_end(peer->ep, peer->channel, words * 8, user | payment);
    return 0;
}

/* ---- receive.c --------------------------------------------------------- */

/* Look at one receive ring, and poll if there is a message. */
static inline void gam_poll_quick(struct gam *g)
{
    struct unet_endpoint *ep = g->look->ep;

    if (gam_unlikely(ep->rx_next >= ep->rx_rings || unet_ring_peek(&ep->rx[ep->rx_next]))) {
        gam_poll(g);
    } else if (++ep->rx_next >= ep->rx_rings) {
        ep->rx_next = 0;
        g->look = g->look->next;
    }
}

/* Return all credits that are owed. */
void gam_credits_return_all(struct gam *g);

/* Run a handler, with the instance in that context. */
void gam_handler_run(struct gam *g, enum gam_context context, gam_handler_fn *fn,
                     const struct gam_message *m);

/* ---- bulk.c ------------------------------------------------------------- */

/* Parts of memory that make up a message of class bulk, behind its header. */
struct gam_parts {
    struct iovec part[UNET_PIECES_MAX - 1];
    uint32_t count; /* at least 1 */
    size_t length;  /* of all */
};

/* Send a message of class bulk.  -EAGAIN: no credit, slot or buffer now. */
int gam_bulk_send_parts(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                        const struct gam_parts *data);
int gam_bulk_send(struct gam_peer *peer, uint32_t user, const union gam_header *header,
                  const void *data, size_t length);

/* A message of class bulk that has arrived. */
struct gam_bulk {
    struct gam_peer *peer;
    uint32_t user;
    size_t length; /* bytes at `data` */
    void *data;    /* NULL: they are at their place already */
    union gam_header header;
};
void gam_bulk_arrived(struct gam *g, const struct gam_bulk *bulk);

/* unet_placement_fn; the argument is the port. */
size_t gam_bulk_place(void *port, uint16_t channel, uint32_t user, const void *header,
                      struct unet_place *place);

/* ---- place.c ------------------------------------------------------------ */

/* Pieces of stores to buffers that have arrived; the second by an inline descriptor, which has the
 * header. */
void gam_place_arrived(struct gam *g, const struct gam_bulk *bulk);
void gam_place_small_arrived(struct gam *g, struct gam_peer *peer, struct unet_desc *desc);

/* ---- transfer.c --------------------------------------------------------- */

void gam_get_arrived(struct gam *g, struct gam_peer *peer, uint32_t user, const uint64_t word[]);

/* Run a store of the caller's to its end: 0, or -EPIPE if the peer dies. */
int gam_transfer_run(struct gam *g, uint32_t dest, struct gam_transfer *store);

/* Send what waits for this peer: deferred replies, then transfers.  True when nothing is left. */
bool gam_peer_work(struct gam *g, struct gam_peer *peer);

/* End every store to, and every get from, a dead peer. */
void gam_transfers_drop(struct gam *g, struct gam_peer *peer);

/* ---- reply.c ------------------------------------------------------------ */

/* Send the deferred replies.  True when none is left. */
bool gam_deferred_send(struct gam_peer *peer);
void gam_deferred_drop(struct gam_peer *peer);

/* ---- wait.c ------------------------------------------------------------- */

/* One step of a wait for this peer: poll, and if nothing came, spin at first, then yield the
 * processor, then sleep.  `rounds` counts the steps and starts at 0.  -EPIPE: the peer is dead. */
int gam_wait_step(struct gam *g, struct gam_peer *peer, uint32_t *rounds);

/* Look whether the peer is dead, which is a system call on some backends; true if it is. */
bool gam_peer_check(struct gam *g, struct gam_peer *peer);

/* Check some peers, each in its turn, unless that was done a moment ago. */
void gam_peers_check(struct gam *g);

/* ---- request.c ---------------------------------------------------------- */

/* The error of a call that is not allowed: -EPERM, and counted, in a handler; otherwise -EINVAL. */
int gam_call_refuse(struct gam *g);

static inline bool gam_handler_ok(uint32_t handler)
{
    return handler - 1 < GAM_HANDLERS - 1;
}

/* Whether n bytes at an address do not wrap around, and the address is not 0 unless n is. */
static inline bool gam_range_ok(uint64_t address, uint64_t n)
{
    return n == 0 || (address != 0 && address + n > address);
}

/* The same of rows, at least one: those between the first and the last lie between them. */
static inline bool gam_rows_range_ok(uint64_t address, uint64_t bytes, int64_t stride,
                                     uint64_t count)
{
    int64_t span;
    uint64_t last;

    return !__builtin_mul_overflow(stride, count - 1, &span) &&
           !__builtin_add_overflow(address, span, &last) && gam_range_ok(address, bytes) &&
           gam_range_ok(last, bytes);
}

#endif
