/* SPDX-License-Identifier: BSD-3-Clause
 *
 * timer.c - the heap of deadlines.
 *
 * Deadlines are lazy: `timer.due` of a connection is never later than its first deadline, but may
 * be earlier.  When it has come, the deadlines are looked at, and the connection is scheduled
 * again.  So putting off a deadline, which happens with every packet, costs a store.
 */
#include "connection.h"
#include <stdlib.h>

enum { OVERDUE_US = 500 }; /* an acknowledgement that is put off once more */

/* ---- the heap ----------------------------------------------------------------------- */

static void heap_place(struct reliable_engine *engine, struct reliable_connection *conn,
                       uint32_t at)
{
    engine->heap[at] = conn;
    conn->timer.index = at;
}

static void heap_sift_up(struct reliable_engine *engine, struct reliable_connection *conn)
{
    uint32_t at = conn->timer.index;

    for (; at > 0 && engine->heap[(at - 1) / 2]->timer.due > conn->timer.due; at = (at - 1) / 2)
        heap_place(engine, engine->heap[(at - 1) / 2], at);
    heap_place(engine, conn, at);
}

static void heap_sift_down(struct reliable_engine *engine, struct reliable_connection *conn)
{
    uint32_t at = conn->timer.index;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < engine->heap_count &&
            engine->heap[child + 1]->timer.due < engine->heap[child]->timer.due)
            child++;
        if (child >= engine->heap_count || engine->heap[child]->timer.due >= conn->timer.due)
            break;
        heap_place(engine, engine->heap[child], at);
        at = child;
    }
    heap_place(engine, conn, at);
}

int reliable_timer_reserve(struct reliable_engine *engine)
{
    const uint32_t room = engine->heap_room ? 2 * engine->heap_room : 16;
    struct reliable_connection **heap;

    if (engine->heap_count < engine->heap_room)
        return 0;
    heap = realloc(engine->heap, room * sizeof(struct reliable_connection *));
    if (!heap)
        return -ENOMEM;
    engine->heap = heap;
    engine->heap_room = room;
    return 0;
}

void reliable_timer_insert(struct reliable_engine *engine, struct reliable_connection *conn)
{
    conn->timer.due = RELIABLE_NEVER;
    heap_place(engine, conn, engine->heap_count++);
}

void reliable_timer_remove(struct reliable_engine *engine, struct reliable_connection *conn)
{
    struct reliable_connection *last = engine->heap[--engine->heap_count];

    if (last == conn)
        return;
    heap_place(engine, last, conn->timer.index);
    heap_sift_up(engine, last);
    heap_sift_down(engine, last);
}

void reliable_timer_schedule(struct reliable_engine *engine, struct reliable_connection *conn,
                             uint64_t at)
{
    if (at < conn->timer.due && !conn->dead) {
        conn->timer.due = at;
        heap_sift_up(engine, conn);
    }
}

/* ---- deadlines ----------------------------------------------------------------------- */

static uint64_t first_deadline(const struct reliable_engine *engine,
                               const struct reliable_connection *conn)
{
    const uint64_t packets =
        reliable_min(reliable_min(conn->rto.deadline, conn->rack.deadline),
                     reliable_min(conn->rcv.ack_deadline, conn->pmtu.deadline));

    return reliable_min(packets, reliable_min(reliable_liveness_heartbeat_at(engine, conn),
                                              reliable_liveness_death_at(engine, conn)));
}

void reliable_engine_return(struct reliable_engine *engine, uint64_t now)
{
    engine->returned = now;
}

/* Where it is overdue for long, its sender may be waiting for it. */
static void expire_acknowledgement(const struct reliable_engine *engine,
                                   struct reliable_connection *conn, uint64_t now)
{
    const uint64_t again = engine->returned + RELIABLE_ACK_DELAY_US;

    if (conn->rcv.ack_late || again <= now || now - conn->rcv.ack_deadline > OVERDUE_US) {
        conn->rcv.ack_now = true;
        return;
    }
    conn->rcv.ack_late = true;
    conn->rcv.ack_deadline = again;
}

static void expire(struct reliable_engine *engine, struct reliable_connection *conn, uint64_t now)
{
    if (conn->rto.deadline <= now)
        reliable_recovery_timeout(engine, conn, now);
    if (conn->rack.deadline <= now)
        reliable_rack_find_lost(engine, conn, now);
    if (conn->rcv.ack_deadline <= now)
        expire_acknowledgement(engine, conn, now);
    if (reliable_liveness_heartbeat_at(engine, conn) <= now) {
        conn->life.heartbeat = true;
        reliable_send_trim(conn);
    }
    reliable_engine_ready(engine, conn);
}

/* Afterwards the connection is due in the future: a deadline that has expired is set anew when the
 * packet goes. */
void reliable_timer_run_first(struct reliable_engine *engine, uint64_t now)
{
    struct reliable_connection *conn = engine->heap[0];

    if (conn->life.unreached || reliable_liveness_death_at(engine, conn) <= now) {
        reliable_engine_mark_dead(engine, conn);
        if (engine->config.died)
            engine->config.died(engine->config.arg, conn->rank);
        return;
    }
    if (first_deadline(engine, conn) <= now)
        expire(engine, conn, now);
    conn->timer.due = first_deadline(engine, conn);
    if (conn->timer.due <= now)
        conn->timer.due = now + 1;
    heap_sift_down(engine, conn);
}
