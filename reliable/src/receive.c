/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - arrivals: authentication, acknowledgements.
 *
 * Nothing in a packet is believed, and no connection is made for it, before its authentication code
 * was found right.  What is acknowledged has been delivered or is held.
 *
 * Any packet carries an acknowledgement.  A packet of its own is sent for it at once when a packet
 * came out of order, because the sender has to know; after RELIABLE_ACK_EVERY packets; and after
 * RELIABLE_ACK_DELAY_US (see reliable_engine_return).  While packets arrive one after the other,
 * those of RELIABLE_ACK_EVERY wait for a lull: what is received then may be answered by a packet
 * that carries the acknowledgement.
 */
#include "connection.h"
#include <string.h>

enum {
    EPOCH_US = 10000,    /* who has sent in this epoch or the last is an active sender */
    ROUND_MIN_US = 20,   /* of measuring what arrives; nobody looks more often */
    EXTRA_BYTES = 65536, /* in flight beyond what arrives in a round trip */
};

void reliable_receive_open(struct reliable_connection *conn)
{
    conn->rcv.nxt = 1;
    conn->rcv.ack_deadline = RELIABLE_NEVER;
    conn->rcv.epoch = RELIABLE_NEVER;
}

/* ---- the window: an equal share for every active sender ------------------------------- */

/* All senders together may have in flight what arrives in a round trip, which is the product of
 * bandwidth and delay, and as much more as lets that grow, but no more than can wait for us.  One
 * may be ahead of the others, as their congestion windows never are the same at one time. */
static void share_out(struct reliable_engine *engine)
{
    const uint32_t active =
        engine->active > engine->active_before ? engine->active : engine->active_before;
    const uint32_t product =
        engine->product > engine->product_before ? engine->product : engine->product_before;
    const uint32_t extra = EXTRA_BYTES / engine->config.packet_bytes;
    const uint32_t all = product + product / (active + 1) + (extra > active ? extra : active);
    const uint32_t part =
        (uint32_t)reliable_min(all, engine->config.backlog) / (active ? active : 1);

    engine->share = part < 1 ? 1 : part > RELIABLE_WINDOW ? (uint32_t)RELIABLE_WINDOW : part;
}

static __attribute__((noinline)) void begin_epoch(struct reliable_engine *engine, uint64_t now)
{
    engine->active_before = now - engine->epoch_start < 2 * EPOCH_US ? engine->active : 0;
    engine->active = 0;
    engine->epoch_start = now;
}

static __attribute__((noinline)) void count_sender(struct reliable_engine *engine,
                                                   struct reliable_connection *conn)
{
    conn->rcv.epoch = engine->epoch_start;
    engine->active++;
    share_out(engine);
}

/* A round trip, as the sender of this packet measures it, has passed.  One that was longer, because
 * nothing came, counts in proportion. */
static __attribute__((noinline)) void end_round(struct reliable_engine *engine, uint64_t now,
                                                const struct reliable_packet *packet)
{
    const uint64_t told = packet->flags & RELIABLE_PACKET_CONFIRM ? 0 : packet->confirmed;
    const uint64_t passed = now - engine->round_start;
    const uint64_t length = engine->round_end - engine->round_start;

    engine->product_before = engine->product;
    engine->product =
        (uint32_t)(passed > 2 * length ? engine->arrived * length / passed : engine->arrived);
    engine->arrived = 0;
    engine->round_start = now;
    engine->round_end = now + (told < ROUND_MIN_US ? (uint64_t)ROUND_MIN_US : told);
    share_out(engine);
}

static inline void count_arrival(struct reliable_engine *engine, struct reliable_connection *conn,
                                 uint64_t now, const struct reliable_packet *packet)
{
    if (now - engine->epoch_start >= EPOCH_US)
        begin_epoch(engine, now);
    if (conn->rcv.epoch != engine->epoch_start)
        count_sender(engine, conn);
    engine->arrived++;
    engine->stats.marked += engine->marked;
    if (now >= engine->round_end)
        end_round(engine, now, packet);
}

void reliable_receive_start(struct reliable_engine *engine)
{
    share_out(engine);
}

/* ---- acknowledging ------------------------------------------------------------------- */

/* Bit i stands for packet rcv.nxt + 1 + from + i.  Packet rcv.nxt itself is never held. */
static uint64_t selected_bits(const struct reliable_connection *conn, uint32_t from)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < RELIABLE_SACK_BITS && from + i < conn->rcv.early_mask; i++) {
        if (conn->rcv.early[(conn->rcv.nxt + 1 + from + i) & conn->rcv.early_mask])
            bits |= (uint64_t)1 << i;
    }
    return bits;
}

size_t reliable_receive_select_more(const struct reliable_connection *conn,
                                    uint64_t more[RELIABLE_SACK_WORDS])
{
    uint32_t count = 0;

    if (conn->rcv.held == 0)
        return 0;
    for (uint32_t i = 0; i < RELIABLE_SACK_WORDS; i++) {
        const uint32_t from = (i + 1) * RELIABLE_SACK_BITS;

        more[i] = from < conn->rcv.early_mask ? selected_bits(conn, from) : 0;
        if (more[i])
            count = i + 1;
    }
    return count * sizeof(*more);
}

/* Whether there are arrivals of which only a packet without frames can tell. */
static bool is_beyond_selected(const struct reliable_connection *conn)
{
    return conn->rcv.held > 0 && conn->rcv.early_mask > RELIABLE_SACK_BITS;
}

void reliable_receive_acknowledge(struct reliable_engine *engine, struct reliable_connection *conn,
                                  struct reliable_packet *packet)
{
    packet->ack = (uint32_t)conn->rcv.nxt;
    packet->selected = conn->rcv.held > 0 ? selected_bits(conn, 0) : 0;
    conn->rcv.marks += conn->rcv.marked;
    conn->rcv.marked = false;
    packet->rwnd = (uint16_t)(engine->share | (conn->rcv.marks & RELIABLE_PACKET_MARKS_MASK)
                                                  << RELIABLE_PACKET_MARKS);
    conn->rcv.unacked = 0;
    conn->rcv.ack_late = false;
    conn->rcv.ack_now = conn->rcv.ack_now && is_beyond_selected(conn);
    conn->rcv.ack_deadline = RELIABLE_NEVER;
}

static void acknowledge_now(struct reliable_engine *engine, struct reliable_connection *conn)
{
    conn->rcv.ack_now = true;
    reliable_engine_ready(engine, conn);
}

static void acknowledge_at_lull(struct reliable_engine *engine, struct reliable_connection *conn)
{
    if (conn->rcv.ack_waits)
        return;
    conn->rcv.ack_waits = true;
    conn->next_waiting = engine->waiting_first;
    engine->waiting_first = conn;
}

void reliable_engine_arriving(struct reliable_engine *engine)
{
    engine->arriving = true;
}

void reliable_engine_marked(struct reliable_engine *engine, bool marked)
{
    engine->marked = marked;
}

bool reliable_engine_lull(struct reliable_engine *engine)
{
    bool any = false;

    engine->arriving = false;
    while (engine->waiting_first) {
        struct reliable_connection *conn = engine->waiting_first;

        engine->waiting_first = conn->next_waiting;
        conn->rcv.ack_waits = false;
        if (conn->rcv.unacked > 0) {
            acknowledge_now(engine, conn);
            any = true;
        }
    }
    return any;
}

/* A sender with a small window waits for the acknowledgement of every packet. */
static void acknowledge_soon(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t now)
{
    const uint32_t half = engine->share / 2;
    const uint32_t every = (uint32_t)reliable_min(RELIABLE_ACK_EVERY, half);
    const uint32_t most = (uint32_t)reliable_min(RELIABLE_ACK_MOST, half);

    conn->rcv.unacked++;
    if (conn->rcv.unacked >= (engine->arriving ? most : every)) {
        acknowledge_now(engine, conn);
    } else if (conn->rcv.unacked >= every) {
        acknowledge_at_lull(engine, conn);
    } else if (conn->rcv.ack_deadline == RELIABLE_NEVER) {
        conn->rcv.ack_deadline = now + RELIABLE_ACK_DELAY_US;
        reliable_timer_schedule(engine, conn, conn->rcv.ack_deadline);
    }
}

/* ---- packets with frames ---------------------------------------------------------------- */

static void take_in_order(struct reliable_engine *engine, struct reliable_connection *conn,
                          uint64_t now, const struct reliable_packet *packet)
{
    const bool closes_gap = conn->rcv.held > 0;

    if (!reliable_order_take(engine, conn, packet))
        return;
    if (closes_gap)
        acknowledge_now(engine, conn);
    else
        acknowledge_soon(engine, conn, now);
}

/* Of a packet that had not come yet: a mark on one that somebody sends again says nothing. */
static inline void note_mark(const struct reliable_engine *engine, struct reliable_connection *conn)
{
    conn->rcv.marked |= engine->marked;
}

/* A packet that is longer than a buffer cannot be held; it has to come again, in order. */
static void take_early(struct reliable_engine *engine, struct reliable_connection *conn,
                       const struct reliable_packet *packet)
{
    if (reliable_order_is_held(conn, packet->number)) {
        engine->stats.duplicates++;
    } else {
        engine->stats.early++;
        note_mark(engine, conn);
        if (packet->length <= engine->config.packet_bytes - sizeof(*packet))
            reliable_order_hold(engine, conn, packet);
    }
    acknowledge_now(engine, conn);
}

static void take(struct reliable_engine *engine, struct reliable_connection *conn, uint64_t now,
                 const struct reliable_packet *packet)
{
    count_arrival(engine, conn, now, packet);
    if (packet->number < conn->rcv.nxt) {
        engine->stats.duplicates++;
        acknowledge_now(engine, conn);
    } else if (packet->number == conn->rcv.nxt) {
        note_mark(engine, conn);
        take_in_order(engine, conn, now, packet);
    } else if (packet->number - conn->rcv.nxt < RELIABLE_WINDOW) {
        take_early(engine, conn, packet);
    } else {
        engine->stats.refused[RELIABLE_REFUSED_FUTURE]++;
    }
}

/* ---- authentication --------------------------------------------------------------------- */

static bool flags_ok(const struct reliable_packet *packet)
{
    const uint8_t flags = packet->flags;

    return (flags & RELIABLE_PACKET_PING || reliable_packet_asked(packet) == 0) &&
           (flags & RELIABLE_PACKET_ANSWER || reliable_packet_answered(packet) == 0) &&
           (!(flags & RELIABLE_PACKET_CONFIRM) || packet->confirmed != 0);
}

/* The code covers all 64 bits of the acknowledgement: a packet that is replayed after its low half
 * has wrapped around is refused. */
static bool mac_ok(const struct reliable_engine *engine, const struct reliable_packet *packet,
                   size_t length)
{
    const struct reliable_connection *conn = reliable_engine_find(engine, packet->source);
    const uint64_t ack = reliable_recovery_ack_number(conn, packet->ack);

    return packet->mac == reliable_mac_packet(&engine->mac, packet, ack, length);
}

/* Frames, zero bytes, or words that tell of arrivals. */
static bool text_ok(const struct reliable_packet *packet)
{
    if (packet->flags & RELIABLE_PACKET_PROBE)
        return packet->number == 0;
    if (packet->number == 0)
        return packet->length % 8 == 0 && packet->length / 8 <= RELIABLE_SACK_WORDS;
    return packet->length > 0 && reliable_order_frames_ok(packet);
}

/* RELIABLE_REFUSALS: nothing is wrong with the packet. */
static enum reliable_refusal check_packet(const struct reliable_engine *engine,
                                          const struct reliable_packet *packet, size_t length)
{
    if (length < sizeof(*packet) || length != sizeof(*packet) + packet->length)
        return RELIABLE_REFUSED_SHORT;
    if (packet->version != RELIABLE_PACKET_VERSION || !flags_ok(packet))
        return RELIABLE_REFUSED_VERSION;
    if (packet->dest != engine->config.rank || packet->source >= engine->config.ranks)
        return RELIABLE_REFUSED_STRANGER;
    if (!mac_ok(engine, packet, length))
        return RELIABLE_REFUSED_FORGED;
    return text_ok(packet) ? RELIABLE_REFUSALS : RELIABLE_REFUSED_MALFORMED;
}

/* An answer that a later packet has overtaken says nothing about what is unacknowledged now. */
static void take_authentic(struct reliable_engine *engine, struct reliable_connection *conn,
                           uint64_t now, const struct reliable_packet *packet)
{
    const uint64_t ack = reliable_recovery_ack_number(conn, packet->ack);
    const bool overtaken = (int64_t)(ack - conn->snd.una) < 0;

    conn->life.heard = now;
    conn->life.answers = true;
    conn->life.waiting_since = RELIABLE_NEVER;
    if (!reliable_recovery_ack(engine, conn, now, packet)) {
        engine->stats.refused[RELIABLE_REFUSED_FUTURE]++;
        return;
    }
    if ((packet->flags & RELIABLE_PACKET_ANSWER) && !overtaken)
        reliable_recovery_answer(engine, conn, now, reliable_packet_answered(packet));
    if (packet->flags & RELIABLE_PACKET_CONFIRM)
        reliable_pmtu_confirmed(engine, conn, packet->confirmed);
    if (packet->flags & RELIABLE_PACKET_PROBE)
        conn->pmtu.to_confirm = (uint32_t)sizeof(*packet) + packet->length;
    if (packet->flags & (RELIABLE_PACKET_PING | RELIABLE_PACKET_PROBE))
        acknowledge_now(engine, conn);
    if (packet->flags & RELIABLE_PACKET_PING) {
        conn->rcv.pinged = true;
        conn->rcv.answer = reliable_packet_asked(packet);
    }
    if (packet->number > 0)
        take(engine, conn, now, packet);
}

void reliable_engine_receive(struct reliable_engine *engine, uint64_t now, const void *bytes,
                             size_t length)
{
    const struct reliable_packet *packet = bytes;
    const enum reliable_refusal refusal = check_packet(engine, packet, length);
    struct reliable_connection *conn;

    engine->stats.received++;
    if (refusal != RELIABLE_REFUSALS) {
        engine->stats.refused[refusal]++;
        return;
    }
    conn = reliable_engine_connection(engine, now, packet->source);
    if (!conn)
        engine->stats.refused[RELIABLE_REFUSED_NO_MEMORY]++;
    else if (conn->dead)
        engine->stats.refused[RELIABLE_REFUSED_DEAD]++;
    else
        take_authentic(engine, conn, now, packet);
}
