/* SPDX-License-Identifier: BSD-3-Clause
 *
 * connection.h - the state of one connection and of the engine, for the engine's source files.
 *
 * The state of a connection is divided among the files that own it:
 *
 *   send.c        snd    the packets of the send window, and which of them goes next
 *   recovery.c    rto    acknowledgements, retransmission time-outs
 *   rack.c        rack   losses, and how much reordering is none
 *   congestion.c  cc     the congestion window
 *   rtt.c         rtt    round-trip times
 *   pmtu.c        pmtu   packetization layer path MTU discovery (RFC 4821)
 *   receive.c     rcv    arrivals: authentication, acknowledgements,
 *   order.c              and their order
 *   liveness.c    life   heartbeats, and when a silent peer counts as dead
 *   timer.c       timer  the heap of deadlines
 *   buffer.c             packet buffers
 *   connection.c         the engine itself: connections by rank, who may transmit
 *
 * Packets are numbered from 1 in 64 bits, and numbers never wrap.  What is kept per packet stands
 * in rings that are as long as there are packets, a power of two:
 *
 *   snd.una            snd.nxt              snd.end
 *     |  in flight        |  not yet sent      |        at most RELIABLE_WINDOW packets
 */
#ifndef RELIABLE_CONNECTION_H
#define RELIABLE_CONNECTION_H

#include "engine.h"
#include "mac.h"
#include "slab.h"
#include <errno.h>

enum {
    RELIABLE_SENT_FEW = 16,      /* packets for which a connection needs no other memory */
    RELIABLE_FEW = 2,            /* with fewer packets in flight, all that is sent goes at once */
    RELIABLE_ACK_EVERY = 2,      /* packets: then an acknowledgement goes at once, */
    RELIABLE_ACK_MOST = 64,      /* or after so many while more packets arrive */
    RELIABLE_ACK_DELAY_US = 100, /* an acknowledgement waits no longer for a packet to carry it */
    RELIABLE_HEARTBEATS = 4,     /* in a peer timeout, while a connection is idle */
    RELIABLE_SACK_BITS = 64,     /* packets after rcv.nxt that any packet reports */
};

/* A packet without frames, and room in front of it. */
struct reliable_bare {
    uint8_t headroom[RELIABLE_HEADROOM];
    struct reliable_packet packet;
    uint64_t more[RELIABLE_SACK_WORDS]; /* of `selected` */
};

struct reliable_rtt { /* in us */
    uint64_t srtt;    /* smoothed, times 8 */
    uint64_t rttvar;  /* mean deviation, times 4 */
    uint64_t latest;
    uint64_t min[2]; /* the shortest in this period, and in the one before */
    uint64_t period; /* when this one ends */
};

struct reliable_congestion {
    uint64_t recover;   /* losses of packets below this number have already cut the window */
    uint64_t last_loss; /* the packet that was last taken for lost */
    uint32_t gap;       /* packets from one loss to the next, on the average */
    uint32_t cwnd;      /* packets in flight that the network seems to bear */
    uint32_t ssthresh;  /* up to which cwnd grows exponentially */
    uint32_t acked;     /* packets acknowledged since cwnd last grew, above ssthresh */
    uint32_t prior_cwnd, prior_ssthresh; /* before the last cut */
    uint8_t marks;                       /* the count of marks that the peer last told */
    uint32_t doubtful; /* losses since then that may turn out to be none; 0: the cut stays */
};

struct reliable_rack {
    uint64_t newest;   /* the latest transmission that is known to have arrived: */
    uint64_t rtt;      /* what that took, in us */
    uint64_t next;     /* first transmissions of packets below this number have been judged */
    uint64_t told;     /* the latest acknowledgement tells of packets below this number */
    uint64_t deadline; /* when to look again; RELIABLE_NEVER: nothing is waited for */
    uint64_t waited;   /* the tolerance, in us, when a packet was last taken for lost */
    uint64_t late;     /* how late packets have come that had been taken for lost, in us */
    uint32_t clean;    /* cuts in a row without a loss that was none */
};

struct reliable_recovery {
    uint64_t deadline;     /* of the retransmission timer; RELIABLE_NEVER: it is stopped */
    uint64_t asked;        /* the answer to our question covers transmissions up to this one */
    uint64_t denied_since; /* since when the peer answers that snd.una has not arrived */
    uint32_t tries;        /* transmissions of snd.una since then */
    uint32_t backoff;      /* time-outs in a row */
    bool probed;           /* the question before the time-out has gone, */
    bool probing;          /* and is the latest one */
    uint8_t question;      /* its number, which the answer repeats */
};

struct reliable_pmtu {
    uint64_t deadline;   /* when the next probe goes; RELIABLE_NEVER: no probe is wanted */
    uint32_t bytes;      /* the longest packet that we send */
    uint32_t step;       /* index of the length that is probed */
    uint32_t probes;     /* 1 + probes of that length sent so far; 0: probing has not begun */
    uint32_t to_confirm; /* length of a probe of the peer's that we have to confirm; 0: none */
};

struct reliable_receive {
    uint64_t nxt;                   /* the first packet that has not arrived */
    uint64_t messages;              /* delivered so far */
    uint64_t ack_deadline;          /* of a delayed acknowledgement; RELIABLE_NEVER: none is due */
    uint64_t epoch;                 /* in which it last counted as an active sender */
    uint32_t held;                  /* packets received out of order */
    uint32_t unacked;               /* packets received since the last acknowledgement went */
    bool ack_now;                   /* the acknowledgement must not be delayed */
    bool ack_waits;                 /* it goes when nothing more arrives */
    bool ack_late;                  /* it has been put off as the owner came back */
    bool pinged;                    /* the peer's question is to be answered, */
    uint8_t answer;                 /* which has this number */
    uint8_t marks;                  /* acknowledgements of packets of which any was marked */
    bool marked;                    /* one is since the last acknowledgement went */
    uint32_t early_mask;            /* length of the ring - 1 */
    struct reliable_buffer **early; /* the ring of packets held; NULL when none is */
    struct reliable_slab *slab;     /* in which the next one will lie; NULL: in a new one */
    bool paused;                    /* a note said that what follows waits: */
    struct reliable_buffer *paused_first, *paused_last; /* the packets that do, in order, */
    uint32_t paused_count;                              /* so many; */
    uint32_t paused_note; /* bytes of the first one's note, which is done with; 0: it has none */
};

struct reliable_liveness {
    uint64_t heard;         /* when the last packet came */
    uint64_t spoke;         /* when the last one went */
    uint64_t waiting_since; /* since when an answer is awaited; RELIABLE_NEVER: none is */
    bool answers;           /* a packet has come since the beginning */
    bool heartbeat;         /* a question has to go in a packet without frames, because packets with
                               frames may be what the network loses */
    bool unreached;         /* nothing that we send arrives: the connection is to be aborted */
};

struct reliable_timer {
    uint64_t due;   /* not later than the connection's first deadline */
    uint32_t index; /* in the heap */
};

struct reliable_send {
    uint64_t una;           /* the first packet that is not acknowledged */
    uint64_t nxt;           /* the next packet to be sent for the first time */
    uint64_t end;           /* the number after the last packet */
    uint64_t sml;           /* 1 + the last packet sent that was not full; 0: none was */
    uint64_t transmissions; /* so far */
    uint64_t messages;      /* accepted so far */
    uint64_t first_lost;    /* no packet below this number has to be sent again */
    uint32_t lost;          /* packets that have to be sent again */
    uint32_t retransmitted; /* packets sent again and not yet acknowledged */
    uint32_t in_flight;     /* sent, and neither acknowledged nor taken for lost */
    uint32_t rwnd;          /* packets in flight that the receiver allows */
    bool ping;              /* the next packet asks for an answer */
    bool acked;             /* an acknowledgement has come, and what it allows has not all gone */
    uint32_t going;         /* packets that go next without waiting for more messages */
    struct reliable_slab *slab;      /* in which the next packet will lie; NULL: in a new one */
    uint32_t mask;                   /* length of the ring - 1 */
    struct reliable_buffer **buffer; /* the ring of una..end-1; NULL: it has arrived */
    struct reliable_buffer *few[RELIABLE_SENT_FEW]; /* the ring while it is short */
};

struct reliable_connection {
    uint32_t rank; /* of the peer */
    bool dead;
    bool ready; /* in the list of connections that may have something to send */
    struct reliable_connection *next_ready;
    struct reliable_connection *next_waiting; /* of those with `rcv.ack_waits` */
    struct reliable_timer timer;
    struct reliable_rtt rtt;
    struct reliable_congestion cc;
    struct reliable_rack rack;
    struct reliable_recovery rto;
    struct reliable_pmtu pmtu;
    struct reliable_liveness life;
    struct reliable_receive rcv;
    struct reliable_send snd;
};

struct reliable_engine {
    struct reliable_engine_config config;
    struct reliable_mac mac;
    struct reliable_connection **table; /* open hash by rank, at most half full */
    uint32_t table_bits;                /* it has 2 to the power of that many places */
    struct reliable_connection **heap;  /* of all living connections, the first due on top */
    uint32_t heap_count, heap_room;
    struct reliable_connection *ready_first, *ready_last;
    struct reliable_connection *waiting_first; /* whose acknowledgements wait for a lull */
    bool arriving, marked; /* packets are taken in, and more may be there; those are marked */
    uint32_t burst;        /* packets that the first ready connection has sent in a row */
    struct reliable_buffer *spare;    /* the list of free buffers, */
    uint32_t spares;                  /* and its length */
    struct reliable_slab *spare_slab; /* the same of slabs */
    uint32_t spare_slabs;
    uint64_t random;
    uint64_t ticked;      /* when the timers last ran */
    uint64_t grace;       /* silence before this time does not count against a peer */
    uint64_t returned;    /* when the owner came back from other work */
    uint64_t epoch_start; /* of counting active senders */
    uint32_t active, active_before;
    uint64_t round_start, round_end;  /* a round trip, for measuring what arrives: */
    uint64_t arrived;                 /* packets so far, */
    uint32_t product, product_before; /* in the one before, and before that */
    uint32_t share;                   /* packets in flight that a sender is allowed */
    struct reliable_engine_stats stats;
    uint32_t window; /* packets of a connection that wait for acknowledgement */
    uint32_t bare_next;
    struct reliable_bare bare[RELIABLE_BATCH]; /* packets without frames, while they are sent */
    uint8_t *probe; /* the same of a probe, headroom included; NULL: none was sent yet */
};

/* Where the buffer of a packet from snd.una to snd.end - 1 is kept. */
static inline struct reliable_buffer **reliable_sent(const struct reliable_connection *conn,
                                                     uint64_t number)
{
    return &conn->snd.buffer[number & conn->snd.mask];
}

static inline uint64_t reliable_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- connection.c --------------------------------------------------------------- */

/* The connection to a rank, or NULL. */
struct reliable_connection *reliable_engine_find(const struct reliable_engine *engine,
                                                 uint32_t rank);

/* The connection to a rank, made if need be; NULL: no memory. */
struct reliable_connection *reliable_engine_connection(struct reliable_engine *engine, uint64_t now,
                                                       uint32_t rank);

/* Puts a connection into the list of those that may have something to send. */
void reliable_engine_ready(struct reliable_engine *engine, struct reliable_connection *conn);

/* Marks a connection dead: drops its packets and stops its timer. */
void reliable_engine_mark_dead(struct reliable_engine *engine, struct reliable_connection *conn);

/* A random number in 0 .. below - 1. */
uint64_t reliable_engine_random(struct reliable_engine *engine, uint64_t below);

/* ---- buffer.c ------------------------------------------------------------------- */

/* Makes sure that the next `count` calls of reliable_buffer_get for packets of at most `bytes`
 * succeed.  -ENOMEM. */
int reliable_buffer_reserve(struct reliable_engine *engine, uint32_t count, uint32_t bytes);

/* A buffer of so many bytes behind the others of a slab, or in a new one if it is NULL or full.
 * NULL: no memory. */
struct reliable_buffer *reliable_buffer_get(struct reliable_engine *engine,
                                            struct reliable_slab **slab, uint32_t bytes);

/* The buffer's length is final: what it does not use of its slab is for the next one, if that was
 * not taken yet. */
void reliable_buffer_trim(struct reliable_buffer *buffer);

/* `slab` is where the next buffer of that kind will lie. */
void reliable_buffer_put(struct reliable_engine *engine, struct reliable_slab **slab,
                         struct reliable_buffer *buffer);

/* Memory of so many packets of the longest length. */
size_t reliable_buffer_bytes_of(const struct reliable_engine *engine, uint32_t packets);

/* Frees all free buffers and slabs. */
void reliable_buffer_free_spares(struct reliable_engine *engine);

/* ---- timer.c -------------------------------------------------------------------- */

/* Room in the heap for one more connection.  -ENOMEM. */
int reliable_timer_reserve(struct reliable_engine *engine);
void reliable_timer_insert(struct reliable_engine *engine, struct reliable_connection *conn);
void reliable_timer_remove(struct reliable_engine *engine, struct reliable_connection *conn);

/* The connection has to be looked at by time `at`, if not before. */
void reliable_timer_schedule(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t at);

/* Does for the connection on top of the heap what is due. */
void reliable_timer_run_first(struct reliable_engine *engine, uint64_t now);

/* ---- liveness.c ------------------------------------------------------------------ */

void reliable_liveness_open(struct reliable_engine *engine, struct reliable_connection *conn,
                            uint64_t now);

/* When the next heartbeat goes, and when the peer counts as dead, if nothing comes until then. */
uint64_t reliable_liveness_heartbeat_at(const struct reliable_engine *engine,
                                        const struct reliable_connection *conn);
uint64_t reliable_liveness_death_at(const struct reliable_engine *engine,
                                    const struct reliable_connection *conn);

/* Something was sent that the peer has to answer. */
void reliable_liveness_await(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t now);

/* The timers run: after a pause of our own, silence before it does not count against anybody. */
static inline void reliable_liveness_tick(struct reliable_engine *engine, uint64_t now)
{
    if (now - engine->ticked > engine->config.peer_timeout_us / RELIABLE_HEARTBEATS)
        engine->grace = now;
    engine->ticked = now;
}

/* Does for all connections what is due; inline, because as a rule nothing is. */
static inline void reliable_timer_run(struct reliable_engine *engine, uint64_t now)
{
    reliable_liveness_tick(engine, now);
    while (engine->heap_count > 0 && engine->heap[0]->timer.due <= now)
        reliable_timer_run_first(engine, now);
}

/* ---- send.c --------------------------------------------------------------------- */

void reliable_send_open(struct reliable_connection *conn);

/* An idle connection needs no long ring. */
void reliable_send_trim(struct reliable_connection *conn);

/* Drops all packets that wait to be sent or acknowledged. */
void reliable_send_drop(struct reliable_engine *engine, struct reliable_connection *conn);

/* The next packet of this connection to go now, or NULL. */
const struct reliable_packet *reliable_send_next(struct reliable_engine *engine,
                                                 struct reliable_connection *conn, uint64_t now,
                                                 size_t *length);

/* Fills in the header of a packet, but for its number and those flags that it has already. */
void reliable_send_seal(struct reliable_engine *engine, struct reliable_connection *conn,
                        struct reliable_packet *packet, size_t length);

/* ---- recovery.c ------------------------------------------------------------------ */

void reliable_recovery_open(struct reliable_connection *conn);

/* Starts the retransmission timer anew. */
void reliable_recovery_start_timer(struct reliable_engine *engine, struct reliable_connection *conn,
                                   uint64_t now);

/* The whole number of which `ack` has the low half: the one next to snd.una.  conn may be NULL. */
uint64_t reliable_recovery_ack_number(const struct reliable_connection *conn, uint32_t ack);

/* A packet brought an acknowledgement.  False: of more than was sent. */
bool reliable_recovery_ack(struct reliable_engine *engine, struct reliable_connection *conn,
                           uint64_t now, const struct reliable_packet *packet);

/* The retransmission timer has expired. */
void reliable_recovery_timeout(struct reliable_engine *engine, struct reliable_connection *conn,
                               uint64_t now);

/* The peer has answered the question of that number: it acknowledges all that came before. */
void reliable_recovery_answer(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t now, uint8_t question);

/* ---- rack.c ---------------------------------------------------------------------- */

void reliable_rack_open(struct reliable_connection *conn);

/* Takes packets for lost that are, when an acknowledgement has come or rack.deadline. */
void reliable_rack_find_lost(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t now);

/* Packet `number`, which is in flight, has to be sent again. */
void reliable_rack_mark_lost(struct reliable_connection *conn, struct reliable_buffer *buffer,
                             uint64_t number);

/* A packet is known to have arrived, by its latest transmission. */
static inline void reliable_rack_arrived(struct reliable_connection *conn, uint64_t now,
                                         const struct reliable_buffer *buffer)
{
    if (buffer->transmission <= conn->rack.newest)
        return;
    conn->rack.newest = buffer->transmission;
    conn->rack.rtt = now - buffer->sent_at;
}

/* The same of one that was taken for lost and, as a rule, sent again: perhaps for nothing. */
void reliable_rack_arrived_after_all(struct reliable_engine *engine,
                                     struct reliable_connection *conn, uint64_t now,
                                     const struct reliable_buffer *buffer);

/* The congestion window was cut. */
void reliable_rack_cut(struct reliable_connection *conn);

/* ---- congestion.c ---------------------------------------------------------------- */

void reliable_congestion_open(struct reliable_connection *conn);

/* Whether the network has lost nothing for so long that nobody else seems to need it. */
bool reliable_congestion_is_quiet(const struct reliable_connection *conn);

/* A packet has arrived at the receiver. */
static inline void reliable_congestion_ack(struct reliable_connection *conn)
{
    struct reliable_congestion *cc = &conn->cc;

    if (4 * conn->snd.in_flight < cc->cwnd || cc->cwnd >= RELIABLE_WINDOW)
        return;
    if (cc->cwnd < cc->ssthresh) {
        cc->cwnd++;
    } else if (++cc->acked >= cc->cwnd) {
        cc->acked = 0;
        cc->cwnd++;
    }
}

/* Packet `number` was lost, as later ones show. */
void reliable_congestion_loss(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t number);

/* The peer tells another count of marks; packets below `una` were acknowledged before. */
void reliable_congestion_mark(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t una, uint8_t marks);

/* One of the packets taken for lost was not. */
void reliable_congestion_undo(struct reliable_engine *engine, struct reliable_connection *conn);

/* Packets were lost that only a time-out showed. */
void reliable_congestion_timeout(struct reliable_engine *engine, struct reliable_connection *conn);

/* ---- rtt.c ----------------------------------------------------------------------- */

void reliable_rtt_open(struct reliable_connection *conn);
void reliable_rtt_sample(struct reliable_rtt *rtt, uint64_t now, uint64_t us);

/* The shortest of the last 5 to 10 s; RELIABLE_NEVER: there was none. */
static inline uint64_t reliable_rtt_min(const struct reliable_rtt *rtt)
{
    return reliable_min(rtt->min[0], rtt->min[1]);
}

/* What packets tell of the smoothed round trip. */
static inline uint64_t reliable_rtt_told(const struct reliable_rtt *rtt)
{
    return reliable_min(rtt->srtt / 8 + rtt->rttvar / 4, UINT16_MAX);
}

/* The probe time-out, of two round trips and a delayed acknowledgement: if not before, the last of
 * some packets should be acknowledged by then.  RELIABLE_NEVER: there was no round trip yet. */
static inline uint64_t reliable_rtt_probe_timeout(const struct reliable_rtt *rtt)
{
    return rtt->srtt ? rtt->srtt / 4 + rtt->rttvar + RELIABLE_ACK_DELAY_US : RELIABLE_NEVER;
}

/* The retransmission time-out without backoff, in us. */
uint64_t reliable_rtt_timeout(const struct reliable_rtt *rtt);

/* True if the latest round trip was so much longer than the shortest that a queue must have grown
 * on the way. */
bool reliable_rtt_has_grown(const struct reliable_rtt *rtt);

/* ---- pmtu.c ---------------------------------------------------------------------- */

void reliable_pmtu_open(const struct reliable_engine *engine, struct reliable_connection *conn);

/* Longer packets would be of use. */
void reliable_pmtu_want(struct reliable_engine *engine, struct reliable_connection *conn,
                        uint64_t now);

/* The probe to go now, or NULL. */
const struct reliable_packet *reliable_pmtu_probe(struct reliable_engine *engine,
                                                  struct reliable_connection *conn, uint64_t now,
                                                  size_t *length);

/* The peer confirms a probe of that length. */
void reliable_pmtu_confirmed(const struct reliable_engine *engine, struct reliable_connection *conn,
                             uint32_t bytes);

/* ---- order.c ---------------------------------------------------------------------- */

/* Whether the frames of a packet are as long as they say, and their flags make sense. */
bool reliable_order_frames_ok(const struct reliable_packet *packet);

/* The packet rcv.nxt is there: delivers it, and those held behind it.  False: it has to wait, and
 * there is no room for that, so it counts as lost. */
bool reliable_order_take(struct reliable_engine *engine, struct reliable_connection *conn,
                         const struct reliable_packet *packet);

/* Whether a packet beyond rcv.nxt is held; and holds it. */
bool reliable_order_is_held(const struct reliable_connection *conn, uint64_t number);
void reliable_order_hold(struct reliable_engine *engine, struct reliable_connection *conn,
                         const struct reliable_packet *packet);

/* Drops all packets that were not delivered. */
void reliable_order_drop(struct reliable_engine *engine, struct reliable_connection *conn);

/* ---- receive.c -------------------------------------------------------------------- */

/* Before there are connections. */
void reliable_receive_start(struct reliable_engine *engine);

void reliable_receive_open(struct reliable_connection *conn);

/* The words of arrivals that go on where `selected` ends, for a packet without frames.  Returns
 * their bytes: 0, if nothing came so early. */
size_t reliable_receive_select_more(const struct reliable_connection *conn,
                                    uint64_t more[RELIABLE_SACK_WORDS]);

/* Fills in what every packet says about arrivals; the acknowledgement counts as sent. */
void reliable_receive_acknowledge(struct reliable_engine *engine, struct reliable_connection *conn,
                                  struct reliable_packet *packet);

#endif
