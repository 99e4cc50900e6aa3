/* SPDX-License-Identifier: BSD-3-Clause
 *
 * quiet.c - how a stream of writes without answers comes to the ring.
 *
 * The ring is entered when all that went by TCP was taken, which such a stream never finds by
 * chance: there is always something on its way, or held back by Nagle's algorithm.  So who may
 * block waits for that moment, after many bytes or many writes, and less and less often if the
 * receiver turns out to be slow.
 */
#include "record/pause.h"
#include "stream/internal.h"
#include <sched.h>

enum {
    QUIET_NS = 3000000,      /* how long a sender waits */
    QUIET_AFTER = 256 << 10, /* bytes by TCP, or ... */
    QUIET_WRITES = 128,      /* ... writes, before it does */
    STEP = 4 << 20,        /* bytes until it waits again, if that was in vain, which doubles ... */
    STEP_MOST = 256 << 20, /* ... up to so many; or as many writes as if each ... */
    STEP_WRITE = 1 << 10,  /* ... had so many bytes */
};

void sockets_stream_put_off_quiet(struct sockets_stream *s)
{
    struct sockets_record *record = s->record;

    if (record->tx.next_quiet < record->tx.sent + QUIET_AFTER)
        record->tx.next_quiet = record->tx.sent + QUIET_AFTER;
    if (record->tx.next_writes < record->tx.writes + QUIET_WRITES)
        record->tx.next_writes = record->tx.writes + QUIET_WRITES;
}

void sockets_stream_put_off_quiet_long(struct sockets_stream *s)
{
    struct sockets_record *record = s->record;

    record->tx.quiet_step = record->tx.quiet_step ? 2 * record->tx.quiet_step : STEP;
    if (record->tx.quiet_step > STEP_MOST)
        record->tx.quiet_step = STEP_MOST;
    record->tx.next_quiet = record->tx.sent + record->tx.quiet_step;
    record->tx.next_writes = record->tx.writes + record->tx.quiet_step / STEP_WRITE;
}

static bool is_due(const struct sockets_stream *s)
{
    const struct sockets_record *record = s->record;

    return !s->carrier && !sockets_phase_is_ring(record->tx.phase) && !record->tx.inflight &&
           !record->pinned && !atomic_load(&s->tx->want_tcp) &&
           (record->tx.sent >= record->tx.next_quiet ||
            record->tx.writes >= record->tx.next_writes) &&
           atomic_load(&s->tx->taken) != SOCKETS_UNKNOWN && /* a peer that has no ring yet */
           !sockets_stream_is_quiet(s);
}

void sockets_stream_wait_for_quiet(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    uint64_t until;

    record->tx.writes++;
    if (!is_due(s))
        return;
    sockets_stream_push(s, fd);
    until = sockets_now_ns() + QUIET_NS;
    sockets_lock_give(&record->tx.lock);
    while (atomic_load(&s->tx->taken) != atomic_load(&s->tx->sent) && sockets_now_ns() < until)
        sched_yield();
    sockets_stream_lock_writer(s);
    sockets_stream_put_off_quiet(s); /* a receiver that sleeps now is woken by TCP all the same */
    if (!sockets_stream_is_quiet(s)) /* the receiver is slow */
        sockets_stream_put_off_quiet_long(s);
}
