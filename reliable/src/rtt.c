/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rtt.c - round-trip times: the estimator of Jacobson (1988) and RFC 6298, in whole microseconds.
 */
#include "connection.h"

enum {
    TIMEOUT_INITIAL_US = 20000, /* before the first sample */
    TIMEOUT_MIN_US = 500,
};

void reliable_rtt_open(struct reliable_connection *conn)
{
    conn->rtt.min = RELIABLE_NEVER;
}

void reliable_rtt_sample(struct reliable_rtt *rtt, uint64_t us)
{
    int64_t error;

    us += us == 0;
    rtt->latest = us;
    rtt->min = reliable_min(us, rtt->min);
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
    return rtt->latest > rtt->min + rtt->min / 2;
}
