/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream.h - bulk by TCP: byte streams of the kernel beside the packets of a connection.
 *
 * The kernel moves long runs of bytes with less work than packets of ours take, so what is corked
 * for one peer goes by a TCP connection to it if it is long (unet_cork_bulk).  Packets stay in
 * charge: they say what order messages have.
 *
 *      sender                                    receiver
 *        | note ASK ------------ packet ----------> |  once, when there has been enough bulk
 *        | <--------- packet -------- note OFFER    |  an address, and a number
 *        | greeting with that number --- TCP -----> |
 *        | <--------- packet ------- note ACCEPT    |  until then all goes by packets
 *        |                                          |
 *        | START, record, ..., record, END - TCP -> |  an episode: messages go on in the stream
 *        | note EPISODE -------- packet ----------> |  packets behind this one wait for its END
 *        | packets                                  |
 *
 * START says how many messages went by packets before, so that records never overtake those.  The
 * note has two tasks: it keeps later packets behind the records, so it goes before any of them; and
 * it makes the receiver look at the stream.  One that has had an episode shortly before looks by
 * itself, and then the note waits for a packet to share.
 *
 * A stream carries messages one way; peers that both send bulk have two.  Each record has an
 * authentication code, which covers its number, so none can be forged, altered, repeated or left
 * out.  TCP repeats what is lost.  A stream that breaks in use takes its peer for dead, as only the
 * death of that or of the way to it breaks one.
 *
 *   streams.c     opening and closing, notes
 *   stream_out.c  to peers: connecting, records
 *   stream_in.c   from peers: accepting, records
 */
#ifndef RELIABLE_STREAM_H
#define RELIABLE_STREAM_H

#include "engine.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct reliable_config;
struct reliable_endpoint;

enum {
    RELIABLE_STREAMS = 64,                  /* peers that an endpoint has streams to or from */
    RELIABLE_STREAM_TRAIN = 132 << 10,      /* bytes that go with one system call, at most */
    RELIABLE_STREAM_TRAIN_LEAST = 47 << 10, /* and at least, if there are more */
    RELIABLE_STREAM_MOST = 16 << 10,        /* bytes of a record's message */
    RELIABLE_STREAM_GAPS = 32,              /* messages of a train that lie elsewhere, at most, */
    RELIABLE_STREAM_GAP = 2048,             /* and how long their parts there are at least */
    RELIABLE_STREAM_GREETINGS = 8,          /* connections that have not said yet whose they are, */
    RELIABLE_STREAM_ACCEPTS = 16,           /* and that are taken in at a time */
    RELIABLE_STREAM_OFFER_US = 5000000,     /* so long an offer is good */
    RELIABLE_STREAM_HOT_US = 500, /* after an episode the receiver is taken to look for the next */
    RELIABLE_STREAM_LOOK_US = 1000, /* and that is how long it does, after nothing was there */
};

enum reliable_note_kind {
    RELIABLE_NOTE_ASK = 1, /* for an offer */
    RELIABLE_NOTE_OFFER,   /* struct reliable_offer */
    RELIABLE_NOTE_ACCEPT,  /* the greeting has come: the stream may be used */
    RELIABLE_NOTE_EPISODE, /* a number of 64 bits: up to this episode, those in the stream come
                              first */
};

/* Where the sender of this may be connected to. */
struct reliable_offer {
    uint64_t nonce;  /* what the greeting has to say; 0: there is no such place */
    uint16_t family; /* AF_INET or AF_INET6 */
    uint16_t port;   /* in network order, as ip */
    uint8_t ip[16];
    uint32_t zero;
};

/* What a stream begins with. */
struct reliable_greeting {
    uint64_t mac; /* of the rest, under the offer's nonce */
    uint64_t nonce;
    uint16_t source, dest; /* ranks */
    uint32_t version;
};

enum reliable_record_flag {
    RELIABLE_RECORD_START = 1u << 0, /* of an episode, with a struct reliable_start */
    RELIABLE_RECORD_END = 1u << 1,   /* of an episode; no message */
};

struct reliable_start {
    uint64_t episode; /* counts this stream's from 1 */
    uint64_t after;   /* messages that went by packets before */
};

/* In front of each message.  Records begin at multiples of 8 bytes of the stream. */
struct reliable_record {
    uint64_t mac; /* of the rest, the message, both ranks, and how many records came before */
    uint32_t user;
    uint16_t length; /* of the message */
    uint16_t flags;  /* enum reliable_record_flag, one or none */
};

RELIABLE_ASSERT(sizeof(struct reliable_offer) <= RELIABLE_NOTE_BYTES, "an offer is a note");
RELIABLE_ASSERT(sizeof(struct reliable_greeting) == 24, "the greeting on the wire");
RELIABLE_ASSERT(sizeof(struct reliable_record) == 16, "a record's header on the wire");

/* Bytes of memory for each stream to a peer, and from one; they begin at a page. */
enum {
    RELIABLE_STREAM_OUT = RELIABLE_STREAM_TRAIN + (36 << 10),
    RELIABLE_STREAM_IN = 96 << 10,
    RELIABLE_STREAM_ALIGNED = 4096,
};

RELIABLE_ASSERT((int)RELIABLE_STREAM_OUT - (int)RELIABLE_STREAM_TRAIN >=
                    2 * ((int)RELIABLE_STREAM_MOST + 4 * (int)sizeof(struct reliable_record)),
                "a train has room for the record that completes it");

enum reliable_stream_state {
    RELIABLE_STREAM_NONE,
    RELIABLE_STREAM_ASKED,
    RELIABLE_STREAM_CONNECTING,
    RELIABLE_STREAM_OPEN,
    RELIABLE_STREAM_REFUSED, /* there is no way: packets carry everything, for good */
};

/* A part of a record that still lies where its sender has it. */
struct reliable_stream_gap {
    const uint8_t *from;
    uint32_t at, length; /* the room for it in the stream's memory */
};

/* The streams to and from one peer. */
struct reliable_stream {
    struct reliable_stream *next; /* of the endpoint's */
    uint16_t channel;
    uint32_t rank;
    uint64_t sent; /* a bulk, us, since when nobody has looked for the peer's; 0: somebody has */
    bool crosses;  /* that was there the last time: both send at the same time */
    struct reliable_stream_out {
        enum reliable_stream_state state;
        int fd;              /* -1: none */
        uint64_t records;    /* so far */
        uint64_t episodes;   /* the same, */
        uint64_t noted;      /* and of those, how many the peer was told of by packets */
        uint64_t hot_until;  /* the peer looks at the stream by itself, us */
        uint64_t offered;    /* when the peer's offer came, us */
        uint8_t *bytes;      /* RELIABLE_STREAM_OUT of them: what the kernel has not taken */
        uint32_t first, end; /* lies from there to there, but for the gaps, which are in order */
        unsigned gaps;       /* none when reliable_stream_uncork returns */
        struct reliable_stream_gap gap[RELIABLE_STREAM_GAPS];
        bool unarrived; /* the kernel has taken something, which may not have arrived */
    } out;
    struct reliable_stream_in {
        int fd;               /* -1: none */
        uint64_t nonce;       /* of our offer; 0: none is good */
        uint64_t offered;     /* when it was made, us */
        uint64_t records;     /* so far */
        uint64_t ended;       /* episodes, */
        uint64_t noted;       /* and how many packets have told of */
        uint64_t quiet;       /* since when nothing comes, us; 0: something does */
        uint64_t patience_us; /* after so long the sender may need an acknowledgement */
        uint8_t *bytes;       /* RELIABLE_STREAM_IN of them: what is not delivered */
        uint32_t first, end;
        bool offer_due;  /* the peer asks */
        bool accept_due; /* it has to be told that its greeting has come */
        bool episode;    /* one has begun */
        bool hot;        /* the next one is looked for */
    } in;
};

/* What the endpoint keeps of them all. */
struct reliable_streams {
    uint64_t after;                /* bytes of it, to a peer, when one is opened */
    size_t least;                  /* bytes of bulk that go by a stream; 0: none do */
    size_t covered;                /* bytes of a message, by its code; the rest may stay in place */
    struct reliable_stream *first; /* the list of those there are, */
    unsigned count;                /* and its length */
    bool work;                     /* something has to be looked at in the next turn */
    uint64_t messages_out, messages_in;
    uint64_t acks; /* that were sent once more */

    /* The episode that is being sent. */
    struct reliable_stream *corked; /* what is corked for its peer goes there; NULL: none */
    bool begun;                     /* there is a record of it */
    uint32_t train;                 /* bytes that are worth a system call */
    unsigned owed;                  /* streams whose peers have to be told of episodes */

    int listener;                            /* -1: none */
    int greeting[RELIABLE_STREAM_GREETINGS]; /* descriptors of connections, the oldest first, */
    unsigned greetings;                      /* so many */
};

/* All functions are called under the endpoint's lock. */

/* ---- streams.c ----------------------------------------------------------------------- */

void reliable_streams_open(struct reliable_endpoint *r, const struct reliable_config *config);
void reliable_streams_close(struct reliable_endpoint *r);

/* reliable_note_fn */
bool reliable_streams_note(void *arg, uint32_t source, uint32_t kind, const void *data,
                           size_t length);

/* Does what is due.  Returns the number of messages that were delivered. */
int reliable_streams_turn(struct reliable_endpoint *r, uint64_t now);

/* The stream of that channel, made if need be.  NULL: there can be none. */
struct reliable_stream *reliable_stream_of(struct reliable_endpoint *r, uint16_t channel);

/* It is of no use any more: its peer counts as dead. */
void reliable_stream_break(const struct reliable_endpoint *r, const struct reliable_stream *s);

/* What both ends ask of the kernel: to send again within milliseconds what is lost, and to ask the
 * other end now and then whether it is there, because something between the hosts may have
 * forgotten the connection.  There is no TCP_USER_TIMEOUT, because it would break streams to ranks
 * that are stopped. */
void reliable_stream_set_options(int fd);

/* Ends those of a channel. */
void reliable_stream_close(struct reliable_endpoint *r, uint16_t channel);

/* Where this machine is reached.  Errors: -EOPNOTSUPP the network has no IP addresses. */
struct sockaddr_storage;
int reliable_stream_host(const struct reliable_endpoint *r, struct sockaddr_storage *host);

/* ---- stream_out.c --------------------------------------------------------------------- */

/* Bulk for a channel, about so many bytes, is corked: it comes next. */
void reliable_stream_cork(struct reliable_endpoint *r, uint64_t now, uint16_t channel,
                          size_t bytes);

/* A message for the channel that is corked.
 * Errors: -EAGAIN there is no room now, -EMSGSIZE it is too long for a record. */
int reliable_stream_send(struct reliable_endpoint *r, uint32_t user, const struct iovec *iov,
                         uint32_t count);

/* What follows goes by packets again. */
void reliable_stream_uncork(struct reliable_endpoint *r, uint64_t now);

/* Tells a channel's peer of the episodes that it was not told of yet.
 * Errors: those of reliable_engine_note. */
int reliable_stream_tell(struct reliable_endpoint *r, uint64_t now, uint16_t channel);

/* Ends the episode if it is that channel's, and tells its peer. */
int reliable_stream_give_way(struct reliable_endpoint *r, uint64_t now, uint16_t channel);

/* An offer has come; and it was taken. */
void reliable_stream_connect(struct reliable_endpoint *r, struct reliable_stream *s,
                             const struct reliable_offer *offer);
void reliable_stream_accepted(struct reliable_stream *s);

/* Goes on with connecting. */
void reliable_stream_greet(struct reliable_stream *s, uint64_t now);

/* Gives the kernel what it takes.  False: it breaks. */
bool reliable_stream_flush(struct reliable_endpoint *r, struct reliable_stream *s);

/* Reads what the peer has sent the other way, which a close would answer by a reset. */
void reliable_stream_discard(const struct reliable_stream *s);

/* Whether the kernel has all of it; and whether that has arrived, and the peer was told of it by
 * packets, too; and the same of all streams. */
bool reliable_stream_is_given(const struct reliable_endpoint *r, uint16_t channel);
bool reliable_stream_arrived(const struct reliable_endpoint *r, uint16_t channel);
bool reliable_streams_arrived(struct reliable_endpoint *r);

/* ---- stream_in.c ---------------------------------------------------------------------- */

/* Makes an offer; and tells that it was taken.  -EAGAIN: later. */
int reliable_stream_offer(struct reliable_endpoint *r, uint64_t now, struct reliable_stream *s);
int reliable_stream_accept(struct reliable_endpoint *r, uint64_t now, struct reliable_stream *s);

/* Takes in new connections. */
void reliable_streams_accept(struct reliable_endpoint *r, uint64_t now);

/* A packet tells of episodes.  Whether those behind it have to wait. */
bool reliable_stream_noted(struct reliable_endpoint *r, struct reliable_stream *s,
                           uint64_t episodes);

/* Whether the rest of an episode has to come from that channel's peer. */
bool reliable_stream_is_owed(const struct reliable_endpoint *r, uint16_t channel);

/* Whether something may be there; and whether it is so likely that nobody sleeps. */
bool reliable_stream_is_awaited(const struct reliable_stream *s);
bool reliable_streams_are_hot(const struct reliable_endpoint *r);

/* Delivers what has come of episodes.  Returns the number of messages. */
int reliable_stream_receive(struct reliable_endpoint *r, uint64_t now, struct reliable_stream *s);

#endif
