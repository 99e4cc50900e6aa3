/* SPDX-License-Identifier: BSD-3-Clause
 *
 * bell.c - the byte by TCP that wakes who sleeps there, and what a sender leaves that dies.
 *
 * A bell is counted before it can arrive, and the next byte of TCP is then taken for it: so one
 * that was counted is always sent, if not by who counted it then by the next one who has the lock.
 * Whether it was sent the kernel knows, which counts what it was given.
 */
#include "real/real.h"
#include "spin/core.h"
#include "stream/internal.h"
#include "stream/position.h"
#include <errno.h>
#include <sys/syscall.h>

/* By syscall, for the lock is held: no thread is cancelled here. */
static int send_byte(int fd)
{
    static const char byte;
    const int before = errno;
    int error = 0;

    if (syscall(SYS_sendto, fd, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0) < 0)
        error = errno == ENOBUFS || errno == ENOMEM ? -EAGAIN : -errno;
    errno = before;
    return error;
}

/* ---- by TCP ----------------------------------------------------------------------- */

void sockets_stream_ring_bell(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;

    if (sockets_carrier_seen(s, record->tx.phase) != 1 || record->tx.bell != SOCKETS_BELL_RUNG)
        return;
    record->tx.bell = SOCKETS_BELL_MEANT;
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_exchange(&s->tx->belled, 1)) {
        record->tx.bell = SOCKETS_BELL_RUNG;
        return;
    }
    record->tx.bells++;
    atomic_signal_fence(memory_order_seq_cst); /* for who finds it if we die */
    record->tx.bell = SOCKETS_BELL_COUNTED;
    sockets_stream_send_bell(s, fd);
}

int sockets_stream_send_bell(struct sockets_stream *s, int fd)
{
    const uint64_t sleeper = sockets_stream_shared_sleeper(s);
    int error;

    atomic_store(&s->tx->bells, s->record->tx.bells); /* before it can arrive */
    sockets_carrier_publish(s);
    sockets_stream_stamp_wake(s);
    if ((error = send_byte(fd)) == -EAGAIN)
        return error;
    s->record->tx.bell = SOCKETS_BELL_RUNG;
    if (error < 0) /* TCP has ended, and says so to who sends next */
        return 0;
    if (atomic_load_explicit(&s->nodelay, memory_order_relaxed)) /* else it may be held back */
        sockets_stream_note_woken(sleeper);
    sockets_stream_note_kernel(false);
    atomic_fetch_add_explicit(&sockets_counters->bells, 1, memory_order_relaxed);
    return 0;
}

/* ---- by the waker ----------------------------------------------------------------- */

/* Where this thread is going to wait for the answer, if it takes turns with the other end. */
static void announce_core(struct sockets_stream *s)
{
    const uint32_t theirs = atomic_load_explicit(&s->tx->core, memory_order_relaxed);
    const uint32_t core =
        sockets_core_announce(s, !s->is_server, !s->of_our_user, theirs, sockets_stream_head(s),
                              atomic_load_explicit(&s->tx->tail, memory_order_relaxed));

    if (atomic_load_explicit(&s->rx->core, memory_order_relaxed) != core)
        atomic_store_explicit(&s->rx->core, core, memory_order_relaxed);
}

void sockets_stream_rouse_now(struct sockets_stream *s)
{
    const uint64_t sleeper =
        atomic_load(&s->tx->dozing) == SOCKETS_DOZE_SET ? sockets_stream_shared_sleeper(s) : 0;
    int fd;

    if (sockets_stream_was_woken(sleeper))
        return;
    fd = sockets_stream_begin_use(s);
    announce_core(s);
    sockets_stream_stamp_wake(s);
    if (fd >= 0 && atomic_exchange(&s->tx->dozing, 0) != 0 && send_byte(fd) == 0)
        sockets_stream_note_woken(sleeper);
    sockets_stream_end_use(s);
}

/* ---- what the dead leave ---------------------------------------------------------- */

/* It may have died between a word of the record and the segment's. */
static void publish_again(struct sockets_stream *s)
{
    struct sockets_record *record = s->record;
    uint32_t ours = SOCKETS_GATE_SENDER;

    if (sockets_phase_is_ring(record->tx.phase)) /* there nothing is owed yet */
        record->tx.owed_until = 0;
    sockets_stream_count_sent(s, 0);
    atomic_store(&s->tx->bells, record->tx.bells);
    atomic_store(&s->tx->phase, record->tx.phase);
    atomic_compare_exchange_strong(&s->tx->gate, &ours, SOCKETS_GATE_OPEN);
}

bool sockets_stream_lock_writer(struct sockets_stream *s)
{
    bool stolen;

    if (!sockets_lock_take(&s->record->tx.lock, &stolen))
        return false;
    if (__builtin_expect(stolen, 0)) {
        const int fd = sockets_stream_begin_use(s);

        if (fd >= 0) /* whom it was to wake; a surplus byte does no harm */
            send_byte(fd);
        sockets_stream_end_use(s);
        publish_again(s);
        s->record->tx.orphaned = true;
    }
    return true;
}

void sockets_stream_settle_orphan(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    uint64_t written;
    int32_t more; /* than was counted */

    record->tx.orphaned = false;
    if (sockets_position_sent(fd, &written) < 0) { /* nothing is sent any more */
        record->tx.bell = SOCKETS_BELL_RUNG;
        return;
    }
    if (record->tx.bell == SOCKETS_BELL_MEANT)
        record->tx.bells = (uint32_t)(written - record->tx.sent) + 1;
    more = (int32_t)((uint32_t)(written - record->tx.sent) - record->tx.bells);
    if (record->tx.bell != SOCKETS_BELL_RUNG)
        record->tx.bell = more < 0 ? SOCKETS_BELL_COUNTED : SOCKETS_BELL_RUNG;
    else if (more > 0 && (uint64_t)more <= sockets_stream_owed(s))
        sockets_stream_count_sent(s, (size_t)more);
}
