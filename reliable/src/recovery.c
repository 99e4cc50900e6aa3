/* SPDX-License-Identifier: BSD-3-Clause
 *
 * recovery.c - acknowledgements, and the two time-outs before which they have to come.
 *
 * After the probe time-out (RFC 8985, section 7; RFC 9002, section 6.2) a question goes: the last
 * packets of a train may be lost, and no later ones show it.  What its answer does not acknowledge
 * is lost.  The question is a packet of its own, since the peer may as well be computing, and
 * sending data again would be for nothing.  When the retransmission timer expires (RFC 6298) the
 * first packet is sent again, and asks likewise.
 */
#include "connection.h"
#include <string.h>

enum {
    TIMEOUT_MAX_US = 500000,
    BACKOFF_MAX = 16,
    TIMEOUTS_BEFORE_DEATH = 16, /* at least that many fit into the peer timeout */
};

void reliable_recovery_open(struct reliable_connection *conn)
{
    conn->rto.deadline = RELIABLE_NEVER;
    conn->rto.denied_since = RELIABLE_NEVER;
}

/* The time-out doubles with each expiry in a row.  Up to an eighth is random, so that connections
 * that lost packets together do not send again together. */
void reliable_recovery_start_timer(struct reliable_engine *engine, struct reliable_connection *conn,
                                   uint64_t now)
{
    uint64_t wait =
        reliable_min(reliable_rtt_timeout(&conn->rtt) << conn->rto.backoff, TIMEOUT_MAX_US);

    if (engine->config.peer_timeout_us)
        wait = reliable_min(wait, 1 + engine->config.peer_timeout_us / TIMEOUTS_BEFORE_DEATH);
    if (!conn->rto.probed)
        wait = reliable_min(wait, reliable_rtt_probe_timeout(&conn->rtt));
    conn->rto.deadline = now + wait + reliable_engine_random(engine, wait / 8 + 1);
    reliable_timer_schedule(engine, conn, conn->rto.deadline);
}

/* ---- questions ------------------------------------------------------------------------- */

/* The buffer of a packet that is in flight: neither arrived nor taken for lost.  Or NULL. */
static struct reliable_buffer *in_flight(const struct reliable_connection *conn, uint64_t number)
{
    struct reliable_buffer *buffer = *reliable_sent(conn, number);

    return buffer && !buffer->lost ? buffer : NULL;
}

/* Later time-outs and heartbeats repeat the question: their answers cover what was sent before the
 * first, too, and where a round trip takes longer than the pauses between questions no answer to
 * the latest one would ever come in time. */
static void ask(struct reliable_connection *conn)
{
    if (conn->rto.backoff == 0) {
        conn->rto.asked = conn->snd.transmissions;
        conn->rto.question = (conn->rto.question + 1) % RELIABLE_PACKET_QUESTIONS;
    }
    conn->snd.ping = true;
}

static void probe_tail(struct reliable_engine *engine, struct reliable_connection *conn)
{
    engine->stats.tail_probes++;
    conn->rto.probed = conn->rto.probing = true;
    ask(conn);
}

static void send_first_again(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_buffer *first = in_flight(conn, conn->snd.una);

    engine->stats.timeouts++;
    conn->rto.probed = true;
    conn->rto.probing = false;
    if (first)
        reliable_rack_mark_lost(conn, first, conn->snd.una);
    ask(conn);
    if (conn->rto.backoff < BACKOFF_MAX)
        conn->rto.backoff++;
}

void reliable_recovery_timeout(struct reliable_engine *engine, struct reliable_connection *conn,
                               uint64_t now)
{
    if (!conn->rto.probed && conn->rtt.srtt > 0)
        probe_tail(engine, conn);
    else
        send_first_again(engine, conn);
    reliable_recovery_start_timer(engine, conn, now);
}

/* A peer that answers is alive, but everything that is sent to it may get lost: as a rule, because
 * the network has come to drop packets of that length.  The connection is given up when for a peer
 * timeout, without a pause of our own, all answers have denied packet snd.una, and it was sent
 * often enough.  A peer that only computes does not answer, or has received the packet. */
static void count_denial(struct reliable_engine *engine, struct reliable_connection *conn,
                         uint64_t now)
{
    const uint64_t timeout = engine->config.peer_timeout_us;
    struct reliable_recovery *rto = &conn->rto;

    if (conn->snd.una == conn->snd.nxt)
        return;
    if (rto->denied_since == RELIABLE_NEVER || rto->denied_since < engine->grace) {
        rto->denied_since = now;
        rto->tries = 0;
    } else if (timeout && now - rto->denied_since >= timeout &&
               rto->tries >= TIMEOUTS_BEFORE_DEATH) {
        conn->life.unreached = true;
        reliable_timer_schedule(engine, conn, now);
    }
}

/* What of the packets that were sent before the question is not acknowledged now.  Returns the
 * first of them; 0: there is none. */
static uint64_t take_unanswered_for_lost(struct reliable_connection *conn)
{
    uint64_t first = 0;

    for (uint64_t n = conn->snd.nxt; n > conn->snd.una; n--) {
        struct reliable_buffer *buffer = in_flight(conn, n - 1);

        if (buffer && buffer->transmission <= conn->rto.asked) {
            reliable_rack_mark_lost(conn, buffer, n - 1);
            first = n - 1;
        }
    }
    return first;
}

/* The answer to an earlier question says nothing about packets sent since then. */
void reliable_recovery_answer(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t now, uint8_t question)
{
    uint64_t lost;

    if (question != conn->rto.question)
        return;
    count_denial(engine, conn, now);
    lost = take_unanswered_for_lost(conn);
    if (lost > 0 && conn->rto.probing)
        reliable_congestion_loss(engine, conn, lost);
    else if (lost > 0)
        reliable_congestion_timeout(engine, conn);
    if (lost > 0)
        reliable_engine_ready(engine, conn);
    conn->rto.asked = 0;
}

/* ---- acknowledgements --------------------------------------------------------------------- */

uint64_t reliable_recovery_ack_number(const struct reliable_connection *conn, uint32_t ack)
{
    const uint64_t una = conn ? conn->snd.una : 1;

    return una + (uint64_t)(int64_t)(int32_t)(ack - (uint32_t)una);
}

/* One that was taken for lost, and may have been sent again. */
static __attribute__((noinline)) void doubtful_acked(struct reliable_engine *engine,
                                                     struct reliable_connection *conn, uint64_t now,
                                                     struct reliable_buffer *buffer)
{
    if (buffer->lost)
        conn->snd.lost--;
    else
        conn->snd.in_flight--;
    conn->snd.retransmitted -= buffer->retransmitted;
    reliable_rack_arrived_after_all(engine, conn, now, buffer);
}

/* Packet `number` has arrived.  False: that was known. */
static bool packet_acked(struct reliable_engine *engine, struct reliable_connection *conn,
                         uint64_t now, uint64_t number)
{
    struct reliable_buffer *buffer = *reliable_sent(conn, number);

    if (!buffer)
        return false;
    reliable_congestion_ack(conn);
    if (buffer->lost || buffer->retransmitted) {
        doubtful_acked(engine, conn, now, buffer);
    } else {
        conn->snd.in_flight--;
        reliable_rtt_sample(&conn->rtt, now, now - buffer->sent_at);
        reliable_rack_arrived(conn, now, buffer);
    }
    reliable_buffer_put(engine, &conn->snd.slab, buffer);
    *reliable_sent(conn, number) = NULL;
    return true;
}

static void ack_cumulative(struct reliable_engine *engine, struct reliable_connection *conn,
                           uint64_t now, uint64_t ack)
{
    for (; conn->snd.una < ack; conn->snd.una++)
        packet_acked(engine, conn, now, conn->snd.una);
}

/* Bit i of `selected` stands for packet `from` + i.  False: all that was known. */
static bool ack_selected(struct reliable_engine *engine, struct reliable_connection *conn,
                         uint64_t now, uint64_t from, uint64_t selected)
{
    bool news = false;

    for (; selected; selected &= selected - 1) {
        const uint64_t number = from + (uint64_t)__builtin_ctzll(selected);

        if (number >= conn->snd.nxt)
            break;
        news |= packet_acked(engine, conn, now, number);
    }
    return news;
}

/* Where `selected` ends, the words of a packet without frames go on. */
static inline bool has_more_words(const struct reliable_packet *packet)
{
    return packet->number == 0 && packet->length > 0 && !(packet->flags & RELIABLE_PACKET_PROBE);
}

/* False: all that was known. */
static bool ack_all_selected(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t now, const struct reliable_packet *packet)
{
    const uint8_t *more = (const uint8_t *)(packet + 1);
    uint64_t from = conn->snd.una + 1;
    uint32_t words = has_more_words(packet) ? packet->length / (uint32_t)sizeof(uint64_t) : 0;
    bool news = ack_selected(engine, conn, now, from, packet->selected);

    for (from += RELIABLE_SACK_BITS; words > 0; words--, from += RELIABLE_SACK_BITS) {
        uint64_t selected;

        memcpy(&selected, more, sizeof(selected));
        news |= ack_selected(engine, conn, now, from, selected);
        more += sizeof(selected);
    }
    conn->rack.told = from;
    return news;
}

/* Packets that had not been acknowledged before now are.  Without a gap, and unless something was
 * sent again, all that is in flight was sent after what has arrived, so nothing is lost. */
static void ack_is_news(struct reliable_engine *engine, struct reliable_connection *conn,
                        uint64_t now, bool disordered)
{
    conn->rto.backoff = 0;
    conn->rto.probed = false;
    conn->snd.acked = true;
    if (disordered)
        reliable_rack_find_lost(engine, conn, now);
    conn->rto.deadline = RELIABLE_NEVER;
    if (conn->snd.una < conn->snd.nxt)
        reliable_recovery_start_timer(engine, conn, now);
}

/* A packet that others have overtaken tells of fewer marks than they did. */
static bool has_new_marks(const struct reliable_connection *conn,
                          const struct reliable_packet *packet)
{
    const unsigned more =
        (reliable_packet_marks(packet) - conn->cc.marks) & RELIABLE_PACKET_MARKS_MASK;

    return more > 0 && more <= RELIABLE_PACKET_MARKS_MASK / 2;
}

bool reliable_recovery_ack(struct reliable_engine *engine, struct reliable_connection *conn,
                           uint64_t now, const struct reliable_packet *packet)
{
    const uint64_t ack = reliable_recovery_ack_number(conn, packet->ack);
    const uint64_t una = conn->snd.una;
    const bool disordered =
        packet->selected != 0 || conn->snd.retransmitted > 0 || has_more_words(packet);
    bool news;

    if ((int64_t)(ack - una) < 0)
        return true; /* a later packet has overtaken this one */
    if (ack > conn->snd.nxt)
        return false;
    ack_cumulative(engine, conn, now, ack);
    news = ack != una;
    if (disordered)
        news |= ack_all_selected(engine, conn, now, packet);
    conn->snd.rwnd = reliable_packet_rwnd(packet) > 0 ? reliable_packet_rwnd(packet) : 1;
    if (has_new_marks(conn, packet))
        reliable_congestion_mark(engine, conn, una, reliable_packet_marks(packet));
    if (ack != una)
        conn->rto.denied_since = RELIABLE_NEVER;
    if (news)
        ack_is_news(engine, conn, now, disordered);
    if (conn->snd.una < conn->snd.end)
        reliable_engine_ready(engine, conn);
    return true;
}
