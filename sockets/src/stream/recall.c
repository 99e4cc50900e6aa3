/* SPDX-License-Identifier: BSD-3-Clause
 *
 * recall.c - what lies unread in a ring goes back to TCP.
 *
 * Who hands a descriptor to a program that knows nothing of rings recalls it: from then on nobody
 * on this side reads the ring, and the sender, in its next call or woken from one, leaves the ring
 * and gives TCP what was not read.  Both change what the phase means, so both take the gate; a
 * sender that was just writing sees the recall after it has published (wake_receiver).  A ring that
 * TCP's data already follow cannot be recalled: their order would be lost.
 */
#include "real/real.h"
#include "record/pause.h"
#include "stream/internal.h"
#include <errno.h>

enum {
    BELL_NS = 100000000, /* how long a bell may be on its way */
    REPAY_MS = 1000,     /* how long TCP may take nothing from one that closes */
    GATE_NS = 100000000, /* how long a receiver may hold the gate ... */
    STRIKES = 3,         /* ... and how often it may hold it longer */
};

/* ---- the sender's side ------------------------------------------------------------- */

/* The receiver holds the gate for some instructions, unless it was killed there.  One that holds it
 * again and again gets no ring any more. */
static void take_gate(struct sockets_stream *s)
{
    const uint64_t until = sockets_now_ns() + GATE_NS;
    uint32_t open = SOCKETS_GATE_OPEN;

    for (uint32_t turn = 1;
         !atomic_compare_exchange_strong(&s->tx->gate, &open, SOCKETS_GATE_SENDER); turn++) {
        if (sockets_now_ns() >= until) {
            if (++s->record->tx.strikes >= STRIKES)
                atomic_store(&s->record->pinned, 1);
            return;
        }
        open = SOCKETS_GATE_OPEN;
        sockets_wait_turn(turn);
    }
}

void sockets_stream_next_phase(struct sockets_stream *s)
{
    struct sockets_record *record = s->record;
    const ssize_t unsent = sockets_ring_unsent(s->tx, &record->tx.ring);

    if (unsent == 0) {
        atomic_store(&s->tx->phase, ++record->tx.phase);
        return;
    }
    take_gate(s);
    if (unsent > 0 && atomic_load(&s->tx->recall)) {
        atomic_store(&record->tx.returned, record->tx.phase);
        record->tx.owed_end = record->tx.ring.tail;
        record->tx.owed_until = record->tx.sent + (uint64_t)unsent;
    }
    atomic_store(&s->tx->phase, ++record->tx.phase);
    atomic_store_explicit(&s->tx->gate, SOCKETS_GATE_OPEN, memory_order_release);
}

void sockets_stream_count_sent(struct sockets_stream *s, size_t bytes)
{
    s->record->tx.sent += bytes;
    atomic_store_explicit(&s->tx->sent, s->record->tx.sent, memory_order_release);
}

int sockets_stream_repay(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    int error;

    if (sockets_stream_owes(s) && sockets_carrier_seen(s, record->tx.phase - 1) != 1)
        return -EAGAIN;
    if (record->tx.orphaned)
        sockets_stream_settle_orphan(s, fd);
    if (record->tx.bell != SOCKETS_BELL_RUNG && (error = sockets_stream_send_bell(s, fd)) < 0)
        return error;
    while (sockets_stream_owed(s) > 0) {
        const char *piece;
        const size_t bytes = sockets_ring_written(&record->tx.ring, s->tx_data,
                                                  record->tx.owed_end - sockets_stream_owed(s),
                                                  record->tx.owed_end, &piece);
        const ssize_t n = sockets_real.send(fd, piece, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n <= 0)
            return n < 0 ? -errno : -EAGAIN;
        sockets_stream_count_sent(s, (size_t)n);
    }
    return 0;
}

int sockets_stream_repay_all(struct sockets_stream *s, int fd)
{
    const uint64_t until = sockets_now_ns() + REPAY_MS * 1000000ull;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error;

    for (uint32_t turn = 1; (error = sockets_stream_repay(s, fd)) == -EAGAIN; turn++) {
        const uint64_t left = sockets_ns_until(until);

        if (left == 0 || sockets_real.poll(&p, 1, (int)(left / 1000000) + 1) <= 0)
            break;
        sockets_carrier_look(s);
        sockets_wait_turn(turn); /* TCP has space, and is not what it waits for */
    }
    return error;
}

void sockets_stream_answer_now(struct sockets_stream *s, int fd)
{
    if (!sockets_stream_lock_writer(s))
        return;
    if (atomic_load(&s->tx->recall))
        sockets_stream_leave_ring(s);
    sockets_stream_repay(s, fd);
    sockets_lock_give(&s->record->tx.lock);
}

/* ---- the receiver's side ------------------------------------------------------------- */

/* One that sleeps for data of ours is woken by a bell, which needs a phase of the ring. */
static void wake_sender(struct sockets_stream *s, int fd)
{
    sockets_stream_rouse(s);
    if (!sockets_stream_lock_writer(s))
        return;
    if (atomic_load(&s->tx->armed) != 0 && atomic_load(&s->record->tx.shut) == 0 &&
        (sockets_phase_is_ring(s->record->tx.phase) || sockets_stream_enter_ring(s, fd)))
        sockets_stream_ring_bell(s, fd);
    sockets_stream_leave_ring(s);
    sockets_lock_give(&s->record->tx.lock);
}

/* No bell is to come among the data that somebody else reads: none is rung while one is on its way,
 * so the last one is taken, and counts as being on its way for ever. */
static void stop_bells(struct sockets_stream *s, int fd)
{
    const uint64_t until = sockets_now_ns() + BELL_NS;
    bool expected = atomic_exchange(&s->rx->belled, 1);

    for (uint32_t turn = 1; expected || sockets_stream_bell_is_due(s); turn++) {
        ssize_t n = -EAGAIN;

        if (sockets_stream_bell_is_due(s))
            n = sockets_stream_take_bell(s, fd);
        if (n == 1)
            expected = false;
        else if (n != -EAGAIN || sockets_now_ns() >= until)
            return;
        else
            sockets_wait_turn(turn);
    }
}

/* Under the lock.  False: a reader sleeps on TCP, so the ring is empty. */
static bool take_gate_for_recall(struct sockets_stream *s, int fd)
{
    const uint64_t until = sockets_now_ns() + GATE_NS;

    for (uint32_t turn = 1; !sockets_stream_take_gate(s, fd); turn++) {
        if (atomic_load(&s->rx->gate) != SOCKETS_GATE_SENDER || sockets_now_ns() >= until)
            return false;
        sockets_wait_turn(turn);
    }
    return true;
}

/* Under the lock.  Whether the ring has unread data, for the sender to give back. */
static int recall(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    int result = 0;

    if (!take_gate_for_recall(s, fd))
        return 0;
    if (!sockets_phase_is_ring(record->rx.phase) && sockets_stream_sender_moved_on(s))
        sockets_stream_to_ring_phase(s);
    if (sockets_phase_is_ring(record->rx.phase) && sockets_ring_unread(s->rx, record->rx.head) != 0)
        result = sockets_stream_sender_moved_on(s) ? -EBUSY : 1;
    if (result >= 0) {
        atomic_store(&record->rx.recalled, 1);
        atomic_store(&s->rx->recall, 1);
    }
    sockets_stream_give_gate(s);
    return result;
}

/* Between hosts the sender's host answers by itself, and what is on its way is recalled, too.  A
 * sender that had left the ring before it heard of the recall gives nothing back: then the ring is
 * still to be read. */
static int take_back(struct sockets_stream *s, int fd, uint64_t until)
{
    struct sockets_record *record = s->record;
    const int given_back = sockets_stream_await_given_back(s, until);
    bool stolen;
    int result = 0;

    if (!sockets_lock_take(&record->rx.lock, &stolen))
        return -EBUSY;
    stop_bells(s, fd);
    if (given_back == 0 && sockets_ring_unread(s->rx, record->rx.head) != 0) {
        atomic_store(&s->rx->recall, 0);
        atomic_store(&record->rx.recalled, 0);
        result = -EBUSY;
    }
    sockets_lock_give(&record->rx.lock);
    return result;
}

/* Returns what `recall` does, or 0 for one that was recalled before, by another descriptor. */
static int begin_recall(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    bool stolen;
    int result;

    if (!sockets_lock_take(&record->rx.lock, &stolen))
        return -EBUSY;
    if (atomic_load(&record->rx.recalled)) {
        sockets_lock_give(&record->rx.lock);
        return 0;
    }
    result = recall(s, fd);
    /* Not before: who leaves the ring for that gives nothing back. */
    atomic_store(&s->rx->want_tcp, 1);
    s->recalling = s->carrier && result >= 0;
    if (result >= 0 && !s->carrier)
        stop_bells(s, fd);
    sockets_lock_give(&record->rx.lock);
    if (result > 0 && !s->carrier)
        wake_sender(s, fd);
    sockets_stream_pin(s);
    return result;
}

static int end_recall(struct sockets_stream *s, int fd, uint64_t until)
{
    int result = 0;

    if (s->recalling)
        result = take_back(s, fd, until);
    s->recalling = false;
    sockets_stream_note_taken(s);
    return result;
}

int sockets_stream_recall(struct sockets_stream *s, int fd)
{
    int begun, ended;

    if (!s->upgraded) {
        sockets_stream_pin(s);
        return 0;
    }
    begun = begin_recall(s, fd);
    ended = end_recall(s, fd, sockets_now_ns() + SOCKETS_AWAIT_NS);
    return ended < 0 ? ended : begun;
}

/* ---- before a fork -------------------------------------------------------------------- */

void sockets_stream_retire_begin(struct sockets_stream *s, int fd)
{
    if (s->carrier)
        begin_recall(s, fd);
}

void sockets_stream_retire_reader(struct sockets_stream *s, int fd, uint64_t until)
{
    if (s->carrier)
        end_recall(s, fd, until);
}
