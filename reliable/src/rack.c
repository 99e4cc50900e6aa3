/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rack.c - which packets are lost: RACK (RFC 8985), and Eifel's detection of what was not (RFC
 * 3522).
 *
 * A packet is lost when one that was transmitted later is known to have arrived, and the round trip
 * that this took, plus a tolerance for reordering, has passed since its own transmission.  The
 * tolerance begins with a quarter of the shortest round trip.  When a loss was none, because the
 * acknowledgement of what was sent again came sooner than any can, it becomes as long as that
 * packet was late, but no longer than a smoothed round trip, and the cut of the congestion window
 * is taken back.  After CLEAN_MAX cuts that were right it is as in the beginning.
 *
 * Transmissions of new packets follow one another as their numbers do, so each of these is judged
 * once (rack.next); those of packets sent again are few, and looked at one by one.
 */
#include "connection.h"

enum { CLEAN_MAX = 16 };

void reliable_rack_open(struct reliable_connection *conn)
{
    conn->rack.next = 1;
    conn->rack.deadline = RELIABLE_NEVER;
}

static uint64_t rack_tolerance_us(const struct reliable_connection *conn)
{
    const uint64_t least = reliable_rtt_min(&conn->rtt) / 4;

    return reliable_min(least > conn->rack.late ? least : conn->rack.late, conn->rtt.srtt / 8);
}

void reliable_rack_mark_lost(struct reliable_connection *conn, struct reliable_buffer *buffer,
                             uint64_t number)
{
    buffer->lost = true;
    if (conn->snd.lost++ == 0 || number < conn->snd.first_lost)
        conn->snd.first_lost = number;
    conn->snd.in_flight--;
}

/* True: packet `number` was transmitted too late to be judged now. */
static bool rack_judge(struct reliable_engine *engine, struct reliable_connection *conn,
                       uint64_t now, struct reliable_buffer *buffer, uint64_t number)
{
    struct reliable_rack *rack = &conn->rack;
    const uint64_t due = buffer->sent_at + rack->rtt + rack_tolerance_us(conn);

    if (buffer->transmission >= rack->newest)
        return true;
    if (due > now) {
        rack->deadline = reliable_min(rack->deadline, due);
        return true;
    }
    rack->waited = rack_tolerance_us(conn);
    reliable_rack_mark_lost(conn, buffer, number);
    reliable_congestion_loss(engine, conn, number);
    return false;
}

static void judge_new(struct reliable_engine *engine, struct reliable_connection *conn,
                      uint64_t now)
{
    const uint64_t end = reliable_min(conn->snd.nxt, conn->rack.told);
    uint64_t n = conn->rack.next > conn->snd.una ? conn->rack.next : conn->snd.una;

    for (; n < end; n++) {
        struct reliable_buffer *buffer = *reliable_sent(conn, n);

        if (buffer && !buffer->lost && !buffer->retransmitted &&
            rack_judge(engine, conn, now, buffer, n))
            break;
    }
    conn->rack.next = n;
}

static void judge_retransmitted(struct reliable_engine *engine, struct reliable_connection *conn,
                                uint64_t now)
{
    const uint64_t end = reliable_min(conn->snd.nxt, conn->rack.told);
    uint32_t left = conn->snd.retransmitted;

    for (uint64_t n = conn->snd.una; left > 0 && n < end; n++) {
        struct reliable_buffer *buffer = *reliable_sent(conn, n);

        if (!buffer || !buffer->retransmitted)
            continue;
        left--;
        if (!buffer->lost)
            rack_judge(engine, conn, now, buffer, n);
    }
}

void reliable_rack_find_lost(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t now)
{
    const uint32_t lost = conn->snd.lost;

    conn->rack.deadline = RELIABLE_NEVER;
    judge_new(engine, conn, now);
    judge_retransmitted(engine, conn, now);
    if (conn->rack.deadline != RELIABLE_NEVER)
        reliable_timer_schedule(engine, conn, conn->rack.deadline);
    if (conn->snd.lost > lost)
        reliable_engine_ready(engine, conn);
}

/* How much later a packet came than it had to: what is sent again goes at once. */
static uint64_t rack_lateness(const struct reliable_rack *rack, uint64_t now,
                              const struct reliable_buffer *buffer)
{
    const uint64_t since = now - buffer->sent_at;

    if (!buffer->lost)
        return rack->waited + since + 1;
    return since > rack->rtt ? since - rack->rtt + 1 : 0;
}

/* Whether the latest transmission of a packet cannot be the one that arrived. */
static bool rack_is_earlier(const struct reliable_connection *conn, uint64_t now,
                            const struct reliable_buffer *buffer)
{
    const uint64_t min = reliable_rtt_min(&conn->rtt);

    return buffer->lost || (min != RELIABLE_NEVER && now - buffer->sent_at < min);
}

void reliable_rack_arrived_after_all(struct reliable_engine *engine,
                                     struct reliable_connection *conn, uint64_t now,
                                     const struct reliable_buffer *buffer)
{
    uint64_t late;

    if (!rack_is_earlier(conn, now, buffer)) {
        reliable_rack_arrived(conn, now, buffer);
        return;
    }
    if (conn->cc.doubtful == 0)
        return;
    engine->stats.spurious++;
    conn->rack.clean = 0;
    late = rack_lateness(&conn->rack, now, buffer);
    if (late > conn->rack.late)
        conn->rack.late = late;
    reliable_congestion_undo(engine, conn);
}

void reliable_rack_cut(struct reliable_connection *conn)
{
    if (++conn->rack.clean < CLEAN_MAX)
        return;
    conn->rack.clean = 0;
    conn->rack.late = 0;
}
