/* SPDX-License-Identifier: BSD-3-Clause
 *
 * congestion.c - the congestion window: how many packets the network seems to bear.
 *
 * As TCP's (RFC 5681): the window doubles with every round trip up to ssthresh, then grows by one
 * packet per round trip, but only while it is what limits the sender (RFC 7661).  Losses cut it at
 * most once per window:
 *   - by half, as a rule;
 *   - by one packet and a 256th if they are isolated and the round-trip time has not grown, as on a
 *     line that merely loses packets;
 *   - to CWND_MIN if only a time-out showed the loss.
 * Losses are isolated if over ISOLATED packets have arrived since the one before, on the average
 * of the latest.  A cut is taken back when all losses since were none (RFC 4015).
 *
 * Packets that the network has marked, because they queue (RFC 3168), cut it by a fifth (RFC 8511),
 * and count as a loss of that window: a mark comes while the queue is short.
 */
#include "connection.h"

enum {
    CWND_MIN = 2, /* packets */
    CWND_INITIAL = 8,
    ISOLATED = 32,  /* packets from a loss to the next */
    GAP_MAX = 1024, /* what counts as no loss at all */
    QUIET = 65536,  /* packets without a loss: nobody competes for the network */
};

void reliable_congestion_open(struct reliable_connection *conn)
{
    conn->cc.cwnd = CWND_INITIAL;
    conn->cc.ssthresh = RELIABLE_WINDOW;
    conn->cc.gap = GAP_MAX;
}

bool reliable_congestion_is_quiet(const struct reliable_connection *conn)
{
    return conn->cc.last_loss == 0 || conn->snd.una > conn->cc.last_loss + QUIET;
}

static uint32_t at_least_min(uint32_t cwnd)
{
    return cwnd < CWND_MIN ? (uint32_t)CWND_MIN : cwnd;
}

/* The distances of losses, averaged over the latest four or so. */
static void congestion_measure_gap(struct reliable_congestion *cc, uint64_t number)
{
    const uint64_t gap = number > cc->last_loss ? number - cc->last_loss : 1;

    cc->gap = (3 * cc->gap + (uint32_t)reliable_min(gap, GAP_MAX)) / 4;
    cc->last_loss = number;
}

static uint32_t congestion_cut(const struct reliable_connection *conn)
{
    const uint32_t cwnd = conn->cc.cwnd;
    const bool isolated = conn->cc.gap > ISOLATED && !reliable_rtt_has_grown(&conn->rtt);

    return at_least_min(isolated ? cwnd - 1 - cwnd / 256 : cwnd / 2);
}

void reliable_congestion_loss(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t number)
{
    struct reliable_congestion *cc = &conn->cc;

    congestion_measure_gap(cc, number);
    if (number < cc->recover) {
        cc->doubtful += cc->doubtful > 0;
        return;
    }
    cc->prior_cwnd = cc->cwnd;
    cc->prior_ssthresh = cc->ssthresh;
    cc->doubtful = 1;
    cc->cwnd = congestion_cut(conn);
    cc->ssthresh = cc->cwnd;
    cc->acked = 0;
    cc->recover = conn->snd.nxt;
    engine->stats.congestions++;
    reliable_rack_cut(conn);
}

void reliable_congestion_mark(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t una, uint8_t marks)
{
    struct reliable_congestion *cc = &conn->cc;

    cc->marks = marks;
    if (una < cc->recover)
        return;
    cc->cwnd = at_least_min(4 * cc->cwnd / 5);
    cc->ssthresh = cc->cwnd;
    cc->acked = 0;
    cc->doubtful = 0;
    cc->recover = conn->snd.nxt;
    engine->stats.congestions++;
}

void reliable_congestion_undo(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_congestion *cc = &conn->cc;

    if (cc->doubtful == 0 || --cc->doubtful > 0)
        return;
    if (cc->cwnd < cc->prior_cwnd)
        cc->cwnd = cc->prior_cwnd;
    cc->ssthresh = cc->prior_ssthresh;
    cc->gap = GAP_MAX;
    engine->stats.undone++;
}

/* A window that is the smallest already has been cut by the time-out before; then ssthresh still
 * remembers half of what there was. */
void reliable_congestion_timeout(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_congestion *cc = &conn->cc;

    if (cc->cwnd > CWND_MIN)
        cc->ssthresh = at_least_min(cc->cwnd / 2);
    cc->cwnd = CWND_MIN;
    cc->recover = conn->snd.nxt;
    cc->doubtful = 0;
    engine->stats.congestions++;
}
