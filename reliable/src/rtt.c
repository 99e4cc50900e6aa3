/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rtt.c - round-trip times: the estimator of Jacobson (1988) and RFC 6298, in whole microseconds,
 * and the shortest of the last while, because ways change.
 */
#include "connection.h"

enum {
    TIMEOUT_INITIAL_US = 20000, /* before the first sample */
    TIMEOUT_MIN_US = 500,
    PERIOD_US = 5000000, /* of the shortest round trip: it is that of two periods */
};

void reliable_rtt_open(struct reliable_connection *conn)
{
    conn->rtt.min[0] = conn->rtt.min[1] = RELIABLE_NEVER;
}

static __attribute__((noinline)) void rtt_begin_period(struct reliable_rtt *rtt, uint64_t now)
{
    rtt->min[1] = now < rtt->period + PERIOD_US ? rtt->min[0] : RELIABLE_NEVER;
    rtt->min[0] = RELIABLE_NEVER;
    rtt->period = now + PERIOD_US;
}

void reliable_rtt_sample(struct reliable_rtt *rtt, uint64_t now, uint64_t us)
{
    int64_t error;

    us += us == 0;
    rtt->latest = us;
    if (now >= rtt->period)
        rtt_begin_period(rtt, now);
    rtt->min[0] = reliable_min(us, rtt->min[0]);
    if (rtt->srtt == 0) {
        rtt->srtt = 8 * us;
        rtt->rttvar = 2 * us;
        return;
    }
    error = (int64_t)us - (int64_t)(rtt->srtt / 8);
    rtt->srtt = (uint64_t)((int64_t)rtt->srtt + error);
    rtt->rttvar += (uint64_t)(error < 0 ? -error : error);
    rtt->rttvar -= rtt->rttvar / 4;
}

uint64_t reliable_rtt_timeout(const struct reliable_rtt *rtt)
{
    const uint64_t us = rtt->srtt ? rtt->srtt / 8 + rtt->rttvar : (uint64_t)TIMEOUT_INITIAL_US;

    return us < TIMEOUT_MIN_US ? (uint64_t)TIMEOUT_MIN_US : us;
}

bool reliable_rtt_has_grown(const struct reliable_rtt *rtt)
{
    const uint64_t min = reliable_rtt_min(rtt);

    return rtt->latest > min + min / 2;
}
