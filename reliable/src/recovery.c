/* SPDX-License-Identifier: BSD-3-Clause
 *
 * recovery.c - acknowledgements, losses, retransmission time-outs.
 *
 * A packet is lost when REORDER_MAX later transmissions are known to have arrived (as in RFC 6675,
 * but counted in transmissions, so that a retransmission can be found lost, too).  When the
 * retransmission timer expires, the peer may as well be computing: only the first packet is sent
 * again, and asks for an answer.  What that answer does not acknowledge is lost.
 */
#include "connection.h"

enum {
    REORDER_MAX = 3,
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
    conn->rto.deadline = now + wait + reliable_engine_random(engine, wait / 8 + 1);
    reliable_timer_schedule(engine, conn, conn->rto.deadline);
}

/* ---- losses ---------------------------------------------------------------------------- */

/* The buffer of a packet that is in flight: neither arrived nor taken for lost.  Or NULL. */
static struct reliable_buffer *in_flight(const struct reliable_connection *conn, uint64_t number)
{
    struct reliable_buffer *buffer = conn->snd.buffer[reliable_slot(number)];

    return buffer && !buffer->lost ? buffer : NULL;
}

static void mark_lost(struct reliable_connection *conn, struct reliable_buffer *buffer)
{
    buffer->lost = true;
    conn->snd.lost++;
    conn->snd.in_flight--;
}

/* Only packets of which acknowledgements can tell are judged. */
static void find_lost(struct reliable_engine *engine, struct reliable_connection *conn)
{
    const uint64_t end = reliable_min(conn->snd.nxt, conn->snd.una + 1 + RELIABLE_SACK_BITS);

    for (uint64_t n = conn->snd.una; n < end; n++) {
        struct reliable_buffer *buffer = in_flight(conn, n);

        if (!buffer || buffer->transmission + REORDER_MAX > conn->snd.newest_acked)
            continue;
        mark_lost(conn, buffer);
        reliable_congestion_loss(engine, conn, n);
    }
}

/* Later time-outs and heartbeats repeat the question: their answers cover what was sent before the
 * first, too, and where a round trip takes longer than the pauses between questions no answer to
 * the latest one would ever come in time. */
static void ask(struct reliable_connection *conn)
{
    struct reliable_buffer *first = in_flight(conn, conn->snd.una);

    if (first)
        mark_lost(conn, first);
    if (conn->rto.backoff == 0) {
        conn->rto.asked = conn->snd.transmissions;
        conn->rto.question = (conn->rto.question + 1) % RELIABLE_PACKET_QUESTIONS;
    }
    conn->snd.ping = true;
}

void reliable_recovery_timeout(struct reliable_engine *engine, struct reliable_connection *conn,
                               uint64_t now)
{
    engine->stats.timeouts++;
    ask(conn);
    if (conn->rto.backoff < BACKOFF_MAX)
        conn->rto.backoff++;
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

/* The answer to an earlier question says nothing about packets sent since then. */
void reliable_recovery_answer(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t now, uint8_t question)
{
    const uint32_t lost = conn->snd.lost;

    if (question != conn->rto.question)
        return;
    count_denial(engine, conn, now);
    for (uint64_t n = conn->snd.una; n < conn->snd.nxt; n++) {
        struct reliable_buffer *buffer = in_flight(conn, n);

        if (buffer && buffer->transmission <= conn->rto.asked)
            mark_lost(conn, buffer);
    }
    if (conn->snd.lost > lost) {
        reliable_congestion_timeout(engine, conn);
        reliable_engine_ready(engine, conn);
    }
    conn->rto.asked = 0;
}

/* ---- acknowledgements --------------------------------------------------------------------- */

uint64_t reliable_recovery_ack_number(const struct reliable_connection *conn, uint32_t ack)
{
    const uint64_t una = conn ? conn->snd.una : 1;

    return una + (uint64_t)(int64_t)(int32_t)(ack - (uint32_t)una);
}

/* Packet `number` has arrived.  False: that was known. */
static bool packet_acked(struct reliable_engine *engine, struct reliable_connection *conn,
                         uint64_t now, uint64_t number)
{
    struct reliable_buffer *buffer = conn->snd.buffer[reliable_slot(number)];

    if (!buffer)
        return false;
    if (buffer->lost)
        conn->snd.lost--;
    else
        conn->snd.in_flight--;
    if (buffer->retransmitted)
        conn->snd.retransmitted--;
    else
        reliable_rtt_sample(&conn->rtt, now - buffer->sent_at);
    if (buffer->transmission > conn->snd.newest_acked)
        conn->snd.newest_acked = buffer->transmission;
    reliable_congestion_ack(conn);
    reliable_buffer_put(engine, &conn->snd.slab, buffer);
    conn->snd.buffer[reliable_slot(number)] = NULL;
    return true;
}

static void ack_cumulative(struct reliable_engine *engine, struct reliable_connection *conn,
                           uint64_t now, uint64_t ack)
{
    for (; conn->snd.una < ack; conn->snd.una++)
        packet_acked(engine, conn, now, conn->snd.una);
}

/* False: all that was known. */
static bool ack_selected(struct reliable_engine *engine, struct reliable_connection *conn,
                         uint64_t now, uint64_t selected)
{
    bool news = false;

    for (; selected; selected &= selected - 1) {
        const uint64_t number = conn->snd.una + 1 + (uint64_t)__builtin_ctzll(selected);

        if (number >= conn->snd.nxt)
            break;
        news |= packet_acked(engine, conn, now, number);
    }
    return news;
}

/* Packets that had not been acknowledged before now are.  Without a gap, and unless something was
 * sent again, all that is in flight was sent after what has arrived, so nothing is lost. */
static void ack_is_news(struct reliable_engine *engine, struct reliable_connection *conn,
                        uint64_t now, bool disordered)
{
    conn->rto.backoff = 0;
    conn->snd.acked = true;
    if (disordered)
        find_lost(engine, conn);
    conn->rto.deadline = RELIABLE_NEVER;
    if (conn->snd.una < conn->snd.nxt)
        reliable_recovery_start_timer(engine, conn, now);
}

bool reliable_recovery_ack(struct reliable_engine *engine, struct reliable_connection *conn,
                           uint64_t now, const struct reliable_packet *packet)
{
    const uint64_t ack = reliable_recovery_ack_number(conn, packet->ack);
    const uint64_t una = conn->snd.una;
    const bool disordered = packet->selected != 0 || conn->snd.retransmitted > 0;
    bool news;

    if ((int64_t)(ack - una) < 0)
        return true; /* a later packet has overtaken this one */
    if (ack > conn->snd.nxt)
        return false;
    ack_cumulative(engine, conn, now, ack);
    news = ack_selected(engine, conn, now, packet->selected) || ack != una;
    conn->snd.rwnd = packet->rwnd > 0 ? packet->rwnd : 1;
    if (ack != una)
        conn->rto.denied_since = RELIABLE_NEVER;
    if (news)
        ack_is_news(engine, conn, now, disordered);
    if (conn->snd.una < conn->snd.end)
        reliable_engine_ready(engine, conn);
    return true;
}
