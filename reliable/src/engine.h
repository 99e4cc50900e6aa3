/* SPDX-License-Identifier: BSD-3-Clause
 *
 * engine.h - messages that arrive once and in order, over packets that may not.
 *
 * A pure state machine: it has no clock, no socket and no thread.  Time, packets and messages go
 * in; packets and messages come out.  Its driver
 *
 *   gives it messages to send           reliable_engine_send
 *   gives it packets that arrived       reliable_engine_receive -> deliver, for each message
 *   sends the packets that are due      reliable_engine_transmit, until there is none
 *   comes back when a timer expires     reliable_engine_deadline
 *
 * Each pair of ranks has a *connection*, made when the first message goes or the first authentic
 * packet comes, so that ranks that never talk cost nothing.  The packets of a connection are
 * numbered, acknowledged by whatever flows the other way, and sent again when they were lost.
 * docs/protocol.md specifies the protocol.
 *
 * `now` is in microseconds from any start and never decreases.  No function blocks.
 */
#ifndef RELIABLE_ENGINE_H
#define RELIABLE_ENGINE_H

#include "packet.h"
#include <reliable/reliable.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct reliable_engine;

enum {
    RELIABLE_WINDOW = 1024,    /* packets of a connection that may be in flight: short ones, */
    RELIABLE_WINDOW_MIN = 256, /* and of the longest */
    RELIABLE_PACKET_BYTES_MIN = 256,
    RELIABLE_PACKET_BYTES_MAX = 65000,
    RELIABLE_HEADROOM = 24,       /* bytes in front of each packet that the driver may write to */
    RELIABLE_BATCH = 64,          /* packets that are there at a time */
    RELIABLE_TRAIN_BYTES = 65507, /* of packets and headrooms that the kernel takes at once: those
                                     of one UDP datagram, which is cut into them */
};
#define RELIABLE_NEVER UINT64_MAX

/* A message has arrived, or a part of it: the parts of a message come in order, and nothing else of
 * that source comes in between.  The function may send. */
typedef void reliable_deliver_fn(void *arg, uint32_t source, uint32_t user, const void *data,
                                 size_t length, bool more);

/* A note of a source's driver has arrived, in order with its messages.  True: what follows from
 * that source waits for reliable_engine_resume.  The function may send. */
typedef bool reliable_note_fn(void *arg, uint32_t source, uint32_t kind, const void *data,
                              size_t length);

/* A rank has been silent for the peer timeout, or does not receive what is sent to it
 * (reliable_engine_reaches).  Called once per rank. */
typedef void reliable_died_fn(void *arg, uint32_t rank);

struct reliable_engine_config {
    uint32_t ranks;           /* 1..65536 */
    uint32_t rank;            /* this one's */
    uint64_t key[2];          /* the job's secret, which authenticates packets */
    enum reliable_auth auth;  /* what of them */
    uint64_t seed;            /* of the jitter of timers */
    uint32_t packet_bytes;    /* the longest packet that our interface sends */
    uint32_t packet_sure;     /* a length that every network lets pass: longer packets are probed
                                 first.  0: packet_bytes is one */
    uint32_t batch;           /* so many bytes of packets are worth a system call while others are
                                 in flight */
    uint32_t backlog;         /* packets that can wait for us before some are dropped */
    uint64_t peer_timeout_us; /* 0: no peer is ever taken for dead */
    reliable_deliver_fn *deliver;
    reliable_died_fn *died;
    reliable_note_fn *note; /* NULL: notes are dropped */
    void *arg;              /* of all three */
};

/* Why an arrival was refused. */
enum reliable_refusal {
    RELIABLE_REFUSED_SHORT,     /* shorter than a header, or than it says */
    RELIABLE_REFUSED_VERSION,   /* another version, or flags that this one does not know */
    RELIABLE_REFUSED_STRANGER,  /* not for this rank, or from no rank of the job */
    RELIABLE_REFUSED_FORGED,    /* its authentication code is wrong */
    RELIABLE_REFUSED_MALFORMED, /* its frames contradict its length */
    RELIABLE_REFUSED_FUTURE,    /* beyond the window, or it acknowledges what was never sent */
    RELIABLE_REFUSED_DEAD,      /* from a rank that counts as dead */
    RELIABLE_REFUSED_NO_MEMORY, /* treated as if the network had lost it */
    RELIABLE_REFUSALS,
};

struct reliable_engine_stats {
    uint64_t sent;         /* packets of all kinds */
    uint64_t sent_again;   /* of those, retransmissions */
    uint64_t acks;         /* of those, packets without frames */
    uint64_t pings;        /* of those, packets that ask for an answer */
    uint64_t probes;       /* packets that only ask whether one of their length arrives */
    uint64_t narrow;       /* connections over which only shorter packets pass than our interface
                              sends */
    uint64_t timeouts;     /* times a retransmission timer expired */
    uint64_t congestions;  /* times a congestion window was cut */
    uint64_t marked;       /* packets that the network had marked, for congestion */
    uint64_t spurious;     /* packets taken for lost that were not */
    uint64_t undone;       /* cuts taken back, because all losses were none */
    uint64_t tail_probes;  /* questions about packets that no later one could show to be lost */
    uint64_t received;     /* packets of all kinds, refused ones included */
    uint64_t duplicates;   /* packets that had come before */
    uint64_t early;        /* packets received out of order */
    uint64_t messages_in;  /* messages delivered */
    uint64_t messages_out; /* messages accepted for sending */
    uint64_t refused[RELIABLE_REFUSALS];
    uint64_t connections; /* made so far */
    uint64_t buffers;     /* packet buffers that exist, free ones included */
};

/* Errors: -EINVAL a field is out of range, -ENOMEM. */
int reliable_engine_open(const struct reliable_engine_config *config,
                         struct reliable_engine **engine);
void reliable_engine_close(struct reliable_engine *engine);

/* Accepts a message to a rank, in one part or gathered from several.  The bytes may be reused at
 * once.
 * Errors: -EAGAIN the window is full, -EPIPE the rank is dead, -EMSGSIZE it takes more than a
 * window of packets, -ENOMEM. */
int reliable_engine_send(struct reliable_engine *engine, uint64_t now, uint32_t rank, uint32_t user,
                         const void *data, size_t length);
int reliable_engine_sendv(struct reliable_engine *engine, uint64_t now, uint32_t rank,
                          uint32_t user, const struct iovec *iov, uint32_t count);

/* The same for a message of which nothing has to be sent now: it joins a packet that waits for
 * more, and goes on waiting until something else happens.  False: nothing was done. */
bool reliable_engine_append(struct reliable_engine *engine, uint32_t rank, uint32_t user,
                            const struct iovec *iov, uint32_t count);

/* Tells the driver at a rank something, in order with messages; of at most RELIABLE_NOTE_BYTES.
 * Errors: as reliable_engine_send. */
int reliable_engine_note(struct reliable_engine *engine, uint64_t now, uint32_t rank, uint32_t kind,
                         const void *data, size_t length);

/* Delivers what waits since a note from that rank said so, up to the next such note. */
void reliable_engine_resume(struct reliable_engine *engine, uint32_t rank);

/* How many messages to a rank were accepted so far, and how many from it delivered. */
uint64_t reliable_engine_accepted(const struct reliable_engine *engine, uint32_t rank);
uint64_t reliable_engine_delivered(const struct reliable_engine *engine, uint32_t rank);

/* A packet has arrived: any bytes, aligned to 8. */
void reliable_engine_receive(struct reliable_engine *engine, uint64_t now, const void *packet,
                             size_t length);

/* Packets that are there will be given to reliable_engine_receive one after the other; and nothing
 * was there, so that acknowledgements which waited for that are sent next (true: there are some).
 * Without them, or between them, none waits. */
void reliable_engine_arriving(struct reliable_engine *engine);

/* Whether what is received from now on was marked by the network, because packets queue there. */
void reliable_engine_marked(struct reliable_engine *engine, bool marked);
bool reliable_engine_lull(struct reliable_engine *engine);

/* The owner comes back from other work.  As a rule it has something to send soon; so an
 * acknowledgement that would go alone now is delayed anew, once, unless it is overdue for long. */
void reliable_engine_return(struct reliable_engine *engine, uint64_t now);

/* What was accepted goes as soon as the windows allow it, without waiting for more. */
void reliable_engine_push(struct reliable_engine *engine);

/* The next packet to be sent now, and to which rank; NULL when there is none.  RELIABLE_BATCH of
 * them stay as they are until this function is called with another `now`, or another function that
 * changes anything; but a probe of the path MTU (RELIABLE_PACKET_PROBE) until the next call.
 * Packets of one connection lie one behind the other as a rule, each with its headroom. */
const void *reliable_engine_transmit(struct reliable_engine *engine, uint64_t now, uint32_t *rank,
                                     size_t *length);

/* Drops what waits for a rank that is known to be dead; `died` is not called. */
void reliable_engine_abort(struct reliable_engine *engine, uint32_t rank);

/* The keyed hash of memory that was granted: see reliable_direct_mac. */
uint64_t reliable_engine_mac(const struct reliable_engine *engine, uint64_t grant, const void *data,
                             size_t n);

/* The authentication code of a record of a stream (stream.h), `number` of which came before, and of
 * its message. */
struct reliable_record;
uint64_t reliable_engine_mac_record(const struct reliable_engine *engine, uint32_t source,
                                    uint32_t dest, uint64_t number,
                                    const struct reliable_record *record, const void *message);

/* The time at which reliable_engine_transmit has to be called again, if nothing else happens. */
uint64_t reliable_engine_deadline(const struct reliable_engine *engine);

/* The end of our own last pause: silence before it does not count against a peer. */
uint64_t reliable_engine_grace(const struct reliable_engine *engine);

/* Whether an authentic packet has ever come from a rank. */
bool reliable_engine_answers(const struct reliable_engine *engine, uint32_t rank);

/* False: a rank was taken for dead although it answered, because what was sent to it again and
 * again did not arrive for a whole peer timeout. */
bool reliable_engine_reaches(const struct reliable_engine *engine, uint32_t rank);

/* Whether all that was sent to a rank is acknowledged, or the rank dead. */
bool reliable_engine_acked(const struct reliable_engine *engine, uint32_t rank);

/* Let packets for a rank go that wait for more messages. */
void reliable_engine_push_one(struct reliable_engine *engine, uint32_t rank);

/* How many packets for a rank have never been sent; 0 if it is dead. */
uint32_t reliable_engine_unsent(const struct reliable_engine *engine, uint32_t rank);

/* Whether a rank is dead: nothing goes to it any more. */
bool reliable_engine_aborted(const struct reliable_engine *engine, uint32_t rank);

/* Whether all that was sent to living ranks is acknowledged. */
bool reliable_engine_idle(const struct reliable_engine *engine);

void reliable_engine_stats(const struct reliable_engine *engine,
                           struct reliable_engine_stats *stats);

/* Memory of a connection in bytes, and at most, with all its buffers. */
size_t reliable_engine_connection_bytes(void);
size_t reliable_engine_connection_bytes_max(const struct reliable_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
