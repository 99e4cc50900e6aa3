/* SPDX-License-Identifier: BSD-3-Clause
 *
 * liveness.c - heartbeats, and when a silent peer counts as dead.
 *
 * A connection that is idle sends a heartbeat, to which the peer answers at once.  A peer that
 * leaves anything unanswered for the peer timeout is dead.  A process that was stopped, or did not
 * poll, has heard nobody for that reason alone; `grace` is the end of its last pause, and silence
 * counts from there.
 */
#include "connection.h"

enum {
    QUESTIONS = 64, /* in a peer timeout, while nothing is answered */
};

void reliable_liveness_open(struct reliable_engine *engine, struct reliable_connection *conn,
                            uint64_t now)
{
    conn->life.heard = now;
    conn->life.spoke = now;
    conn->life.waiting_since = RELIABLE_NEVER;
    if (engine->config.peer_timeout_us)
        reliable_timer_schedule(engine, conn,
                                now + engine->config.peer_timeout_us / RELIABLE_HEARTBEATS);
}

/* While an answer is awaited, questions are frequent: a bad line loses a few of them, but not
 * all. */
uint64_t reliable_liveness_heartbeat_at(const struct reliable_engine *engine,
                                        const struct reliable_connection *conn)
{
    const uint64_t timeout = engine->config.peer_timeout_us;
    const uint64_t heard = conn->life.heard, spoke = conn->life.spoke;

    if (!timeout)
        return RELIABLE_NEVER;
    if (conn->life.waiting_since != RELIABLE_NEVER)
        return spoke + timeout / QUESTIONS;
    return (heard > spoke ? heard : spoke) + timeout / RELIABLE_HEARTBEATS;
}

uint64_t reliable_liveness_death_at(const struct reliable_engine *engine,
                                    const struct reliable_connection *conn)
{
    const uint64_t waiting = conn->life.waiting_since, grace = engine->grace;

    if (!engine->config.peer_timeout_us || waiting == RELIABLE_NEVER)
        return RELIABLE_NEVER;
    return (waiting > grace ? waiting : grace) + engine->config.peer_timeout_us;
}

void reliable_liveness_await(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t now)
{
    if (conn->life.waiting_since == RELIABLE_NEVER)
        conn->life.waiting_since = now;
    if (engine->config.peer_timeout_us)
        reliable_timer_schedule(engine, conn,
                                conn->life.waiting_since + engine->config.peer_timeout_us);
}
