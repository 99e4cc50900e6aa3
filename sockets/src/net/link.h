/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.h - the carrier between hosts: one connection's lane of the road to the other process.
 *
 * A message has all words of this end's halves and the next bytes of the ring; the other end writes
 * them into its own segment, in the place of a sender and a receiver that share it.  Whoever looks
 * at the stream takes in what has come; a thread of the library does so for those that do not
 * (agent.c).
 *
 * If the network's path dies the link goes on over its control connection, a TCP connection of its
 * own (meet.h): what the other end does not say to have is sent again there, and both ends leave
 * the ring for good.
 */
#ifndef SOCKETS_LINK_H
#define SOCKETS_LINK_H

#include "net/road.h"
#include "net/wire.h"
#include "stream/carrier.h"

/* Of how many connections a process may have before all are the kernel's (UNETSOCK_NET_MANY): who
 * has many to look at does better with its batches. */
extern uint32_t sockets_link_many;

/* Messages that may be on their way, besides those that only say what was taken; fewer, for tests,
 * by UNETSOCK_NET_WINDOW. */
extern uint32_t sockets_link_window;

enum { SOCKETS_LINK_PEER_MS = 2000 }; /* a path on which nothing comes for so long is dead */

enum sockets_link_state {
    SOCKETS_LINK_NETWORK, /* messages go by the lane */
    SOCKETS_LINK_CONTROL, /* or by the control connection */
    SOCKETS_LINK_LOST,    /* neither */
};

enum sockets_rest {
    SOCKETS_REST_ASLEEP =
        1 << 0, /* a reader of bulk, or one that sleeps at once; until one spins */
    SOCKETS_REST_JUDGED = 1 << 1, /* judge.h */
};

struct sockets_link {
    struct sockets_carrier carrier;
    struct sockets_lock lock; /* of all that follows; taken behind those of the stream */
    struct sockets_stream *stream;
    struct sockets_lane *lane;
    int control; /* hidden, as all that the road has (real/hidden.h) */
    enum sockets_link_state state;
    bool busy;   /* a signal's handler that finds it so leaves its message to whom it interrupted */
    bool owing;  /* a message is to be sent as soon as there is room ... */
    bool handed; /* ... of which the agent knows, who sends it if nobody looks */
    struct sockets_wire last;   /* the last message */
    uint64_t pushed;            /* bytes of the ring that were sent */
    uint32_t out;               /* messages sent ... */
    uint32_t out_taken;         /* ... of which the other end has taken so many */
    uint32_t in, in_told;       /* messages taken, and of those the other end knows */
    uint32_t lets;              /* of the other end's, as far as we know */
    struct sockets_writer ring; /* of what this end receives: we are its writer */
    uint64_t head_told, taken_told;
    uint32_t rests;                    /* why this end does: enum sockets_rest ... */
    uint32_t rest_told;                /* ... and the message that says so */
    bool told_to_rest;                 /* by the other end, which judges */
    _Atomic bool looks;                /* nobody has slept since one has spun */
    _Atomic bool asleep;               /* who waits rests, as the other end knows */
    uint64_t judged;                   /* bytes of those read that the judge has counted */
    uint32_t tell_log, tell_wait;      /* how seldom it is told what was taken from TCP ... */
    bool told;                         /* ... and that it was, and has not used it yet */
    _Atomic uint32_t seen;             /* the phase that the other end has seen */
    _Atomic uint32_t news, waiters;    /* of that, or that nothing comes any more; who sleeps */
    _Atomic bool heard, returned;      /* it knows of a recall; and gives the last ring back */
    _Atomic uint64_t looked_ns;        /* when somebody other than the agent last looked */
    struct sockets_wire_reader reader; /* of the control connection */
    bool later;                        /* its message is still to be taken */
    uint64_t ended_ns; /* since when it has ended, while the network is still read */
    struct sockets_wire_writer writer; /* to the same */
};

/* Makes a link of a lane and a control connection, both of which it owns from now on, even if it
 * fails.  NULL: there is no memory. */
struct sockets_link *sockets_link_new(struct sockets_lane *lane, int control);

/* The stream has been attached: the link carries its segment from now on. */
void sockets_link_begin(struct sockets_link *link, struct sockets_stream *s);

/* For a link that no stream has. */
void sockets_link_free(struct sockets_link *link);

/* For the agent, who calls it again and again. */
enum sockets_link_served {
    SOCKETS_LINK_IDLE,  /* until something comes, or for as long as the endpoint's timers allow */
    SOCKETS_LINK_AGAIN, /* soon */
    SOCKETS_LINK_GONE,  /* the stream is no more, and the link is to be freed */
};
enum sockets_link_served sockets_link_serve(struct sockets_link *link);

/* Whether the program looks at it by itself, and will do so again soon. */
bool sockets_link_is_looked_at(struct sockets_link *link);

/* What is above: wake the agent; and a descriptor of the stream in this process, or -1. */
extern void (*sockets_link_wake)(void);
extern int (*sockets_link_descriptor_of)(const struct sockets_stream *s);

/* ---- messages (send.c, receive.c); all want the lock ------------------------------------ */

/* Read UNETSOCK_NET_MANY and UNETSOCK_NET_WINDOW. */
void sockets_link_init(void);

/* Send all that is new, as far as there is room; link->owing says that something is left. */
void sockets_link_flush(struct sockets_link *link);

/* One end wants TCP: who is to leave its ring waits to hear how much of it has arrived and was
 * read. */
static inline bool sockets_link_is_being_left(const struct sockets_stream *s)
{
    return atomic_load(&s->rx->want_tcp) || atomic_load(&s->tx->want_tcp);
}

/* Whether the last message says all that is to be said of what this end receives. */
bool sockets_link_has_told(const struct sockets_link *link);

/* Say what was taken in, and nothing new of what this end sends. */
void sockets_link_acknowledge(struct sockets_link *link);

/* Take in what has come by the lane, or by the control connection. */
void sockets_link_take_network(struct sockets_link *link);
void sockets_link_take_control(struct sockets_link *link);

/* The network's path is dead: what the other end does not say to have is sent again by the control
 * connection, and both ends leave the ring for good. */
void sockets_link_fall_back(struct sockets_link *link);

/* That is dead, too: nothing comes any more. */
void sockets_link_lose(struct sockets_link *link);

/* Wake who sleeps until the other end has seen a phase. */
void sockets_link_note_seen(struct sockets_link *link);

#endif
