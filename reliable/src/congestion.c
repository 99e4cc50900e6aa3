/* SPDX-License-Identifier: BSD-3-Clause
 *
 * congestion.c - the congestion window: how many packets the network seems to bear.
 *
 * The window doubles with every round trip up to ssthresh, then grows by one packet per round
 * trip.  Losses cut it at most once per window:
 *   - by half if the round-trip time has grown, too, because then a queue has overflowed;
 *   - by one packet and a 64th if it has not, as on a line that merely loses packets;
 *   - to CWND_MIN if only a time-out showed the loss.
 */
#include "connection.h"

enum {
    CWND_MIN = 2, /* packets */
    CWND_INITIAL = 8,
};

void reliable_congestion_open(struct reliable_connection *conn)
{
    conn->cc.cwnd = CWND_INITIAL;
    conn->cc.ssthresh = RELIABLE_WINDOW;
}

void reliable_congestion_ack(struct reliable_connection *conn)
{
    struct reliable_congestion *cc = &conn->cc;

    if (cc->cwnd >= RELIABLE_WINDOW)
        return;
    if (cc->cwnd < cc->ssthresh) {
        cc->cwnd++;
    } else if (++cc->acked >= cc->cwnd) {
        cc->acked = 0;
        cc->cwnd++;
    }
}

static uint32_t at_least_min(uint32_t cwnd)
{
    return cwnd < CWND_MIN ? (uint32_t)CWND_MIN : cwnd;
}

void reliable_congestion_loss(struct reliable_engine *engine, struct reliable_connection *conn,
                              uint64_t number)
{
    struct reliable_congestion *cc = &conn->cc;

    if (number < cc->recover)
        return;
    cc->cwnd = at_least_min(reliable_rtt_has_grown(&conn->rtt) ? cc->cwnd / 2
                                                               : cc->cwnd - 1 - cc->cwnd / 64);
    cc->ssthresh = cc->cwnd;
    cc->acked = 0;
    cc->recover = conn->snd.nxt;
    engine->stats.congestions++;
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
    engine->stats.congestions++;
}
