/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - what the files of the stream share.
 */
#ifndef SOCKETS_STREAM_INTERNAL_H
#define SOCKETS_STREAM_INTERNAL_H

#include "spin/spin.h"
#include "stream/carrier.h"
#include "stream/stream.h"
#include <poll.h>

/* How long the end of a stream or the start of a program waits for the other end. */
enum { SOCKETS_AWAIT_NS = 1000000000 };

static inline bool sockets_phase_is_ring(uint32_t phase)
{
    return phase & 1;
}

/* The gate of a direction: the receiver reads from TCP, or the sender enters the ring. */
enum { SOCKETS_GATE_OPEN, SOCKETS_GATE_SENDER, SOCKETS_GATE_RECEIVER };

/* Up to where this side has read the ring; the peer can write what the ring says of that. */
static inline uint64_t sockets_stream_head(const struct sockets_stream *s)
{
    return __atomic_load_n(&s->record->rx.head, __ATOMIC_RELAXED);
}

/* Whether the ring that is read has bytes. */
static inline bool sockets_stream_has_unread(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->tail, memory_order_relaxed) != sockets_stream_head(s);
}

/* Who is to be woken without TCP (doze.c): one that wakes for itself, or an epoll set. */
enum { SOCKETS_DOZE_ALONE = 1, SOCKETS_DOZE_SET };

/* Who sleeps at the other end, and is woken (wake.c).  Who sleeps for this stream and others, and
 * has a value of its own for that, unless somebody else sleeps for this one, too; or 0. */
uint64_t sockets_stream_shared_sleeper(const struct sockets_stream *s);

/* It was woken by this process, by any of its streams. */
bool sockets_stream_was_woken(uint64_t sleeper);
void sockets_stream_note_woken(uint64_t sleeper);

/* Before a system call that wakes who may sleep at the other end: it learns what that takes. */
void sockets_stream_stamp_wake(struct sockets_stream *s);

/* Somebody sleeps whom TCP is to wake. */
static inline bool sockets_stream_receiver_sleeps(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->tx->armed, memory_order_relaxed) != 0 &&
           !sockets_stream_was_woken(sockets_stream_shared_sleeper(s));
}

/* Sleep for data until the other end has something to say (doze.c).  1: there is something to take;
 * 0: sleep on TCP; -EINTR, or -EBADF: closed meanwhile. */
int sockets_stream_doze(struct sockets_stream *s);

/* After something was published: who dozes at the other end looks at it. */
void sockets_stream_rouse_now(struct sockets_stream *s);
static inline void sockets_stream_rouse(struct sockets_stream *s)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&s->tx->dozing, memory_order_relaxed) != 0)
        sockets_stream_rouse_now(s);
}

/* Take the lock of what this end sends; false if this very thread has it.  Of an owner that died
 * while it had it the next repayment settles what it owed. */
bool sockets_stream_lock_writer(struct sockets_stream *s);

/* These want that lock. */
void sockets_stream_leave_ring(struct sockets_stream *s);
void sockets_stream_ring_bell(struct sockets_stream *s, int fd);
int sockets_stream_send_bell(struct sockets_stream *s, int fd); /* that was counted; 0 or -errno */
void sockets_stream_settle_orphan(struct sockets_stream *s, int fd);

/* Of a carried stream, whose ring is left without data for TCP.  No bell is rung after that, and a
 * receiver that falls asleep before it tells us would miss what it has not read: so it has read
 * all, or has a bell that it had not taken when all had arrived.  A recalled ring is not read any
 * more. */
static inline bool sockets_stream_may_leave(const struct sockets_stream *s)
{
    const struct sockets_writer *ring = &s->record->tx.ring;

    if (atomic_load(&s->tx->recall) || sockets_ring_unsent(s->tx, ring) <= 0)
        return true;
    return atomic_load_explicit(&s->carrier->arrived, memory_order_acquire) == ring->tail &&
           atomic_load(&s->tx->belled);
}

bool sockets_stream_enter_ring(struct sockets_stream *s, int fd);

/* Every byte that TCP was given has been taken, and no more than so many threads, which the caller
 * knows of, are just giving more; the same lock. */
static inline bool sockets_stream_is_quiet_but(const struct sockets_stream *s, uint32_t threads)
{
    return s->record->tx.inflight == threads &&
           atomic_load_explicit(&s->tx->taken, memory_order_acquire) == s->record->tx.sent;
}
static inline bool sockets_stream_is_quiet(const struct sockets_stream *s)
{
    return sockets_stream_is_quiet_but(s, 0);
}

/* The same lock.  What Nagle's algorithm holds back leaves now. */
void sockets_stream_push(struct sockets_stream *s, int fd);

/* The same lock, which is given up meanwhile: whoever may block waits here, if it is time to, until
 * the ring may be entered; and it is not time for a while (quiet.c). */
void sockets_stream_wait_for_quiet(struct sockets_stream *s, int fd);
void sockets_stream_put_off_quiet(struct sockets_stream *s);
void sockets_stream_put_off_quiet_long(struct sockets_stream *s);

/* Data, or the end, are about to be given to the ring or to TCP: say when, if that is of interest.
 * The same lock, and threads as above. */
void sockets_stream_stamp_now(struct sockets_stream *s, uint32_t threads);
static inline void sockets_stream_stamp(struct sockets_stream *s, uint32_t threads)
{
    if (atomic_load_explicit(&s->tx->ordered, memory_order_relaxed))
        sockets_stream_stamp_now(s, threads);
}

/* The same lock.  Leave the ring; what was recalled from it is owed to TCP before anything else,
 * and a bell that was counted before that. */
void sockets_stream_next_phase(struct sockets_stream *s);
static inline uint64_t sockets_stream_owed(const struct sockets_stream *s) /* bytes */
{
    const uint64_t until = s->record->tx.owed_until, sent = s->record->tx.sent;

    return until > sent ? until - sent : 0;
}
static inline bool sockets_stream_owes(const struct sockets_stream *s)
{
    return sockets_stream_owed(s) > 0 || s->record->tx.bell != SOCKETS_BELL_RUNG ||
           s->record->tx.orphaned;
}

/* The same lock.  TCP was given so much. */
void sockets_stream_count_sent(struct sockets_stream *s, size_t bytes);

/* Give TCP what is owed, as far as it takes it; or wait for some time until it has taken all.  0 or
 * -errno. */
int sockets_stream_repay(struct sockets_stream *s, int fd);
int sockets_stream_repay_all(struct sockets_stream *s, int fd);

/* Of the receiver, under its lock (gate.c).  False: the sender has the gate, and there is nothing
 * to take, or somebody of this side has it. */
bool sockets_stream_take_gate(struct sockets_stream *s, int fd);
void sockets_stream_give_gate(struct sockets_stream *s);

/* The same lock.  Who sleeps in TCP has the gate, so the phase is even and does not end as long as
 * the caller has the lock. */
bool sockets_stream_shares_gate(const struct sockets_stream *s);

/* A bell that the sender has counted and nobody has taken from TCP.  Taking it returns 1, 0 at the
 * end of the stream, -EAGAIN if it is still on its way, or another -errno. */
static inline bool sockets_stream_bell_is_due(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->bells, memory_order_acquire) != s->record->rx.drained;
}
ssize_t sockets_stream_take_bell(struct sockets_stream *s, int fd);

/* Whether the next byte of TCP is urgent, or follows one that is (urgent.c). */
bool sockets_stream_is_tcp_at_mark(int fd);

/* Whether there may be such data: who sends them is pinned, and says so before. */
static inline bool sockets_stream_may_have_urgent(const struct sockets_stream *s)
{
    return __builtin_expect(atomic_load_explicit(&s->tx->want_tcp, memory_order_relaxed), 0);
}

/* The sender may ring once more. */
static inline void sockets_stream_let_bell(struct sockets_stream *s)
{
    atomic_fetch_add_explicit(&s->rx->lets, 1, memory_order_relaxed);
    atomic_store(&s->rx->belled, 0);
    sockets_carrier_publish(s);
}

/* Under the lock of what this end sends, which is given up meanwhile: until the other end has seen
 * the ring's last phase, and bytes may go by TCP.  0, -EAGAIN if it does not block, or
 * -ECONNRESET: the other end cannot be told any more. */
int sockets_stream_settle(struct sockets_stream *s, int fd, bool block);

/* The same lock.  Until all that was in the ring has arrived: the kernel's FIN tells so. */
void sockets_stream_settle_end(struct sockets_stream *s);

/* Without locks, behind sockets_stream_settle_end: take all bells that the other end has rung
 * before it knew that this one closes.  One that came later would turn the end into a reset. */
void sockets_stream_await_bells(struct sockets_stream *s, int fd);

/* A receiver that is in the ring hears from TCP of the end, 0, or of an error.  Returns that, or
 * -EAGAIN: if the carrier has not said so the sender was killed, and what it sent before is read
 * first. */
ssize_t sockets_stream_end_in_ring(struct sockets_stream *s, ssize_t n);

/* TCP has something of which the carrier is still to tell.  The kernel tells of that by one edge,
 * for which sets of epoll have to ask again.  Returns -EAGAIN. */
ssize_t sockets_stream_withhold(struct sockets_stream *s);

/* The receiver's lock.  Something was taken, or it was a bell. */
static inline void sockets_stream_end_withholding(struct sockets_stream *s)
{
    if (s->carrier)
        atomic_store_explicit(&s->withheld_since, 0, memory_order_relaxed);
}

/* Whether TCP has neither bytes nor an end nor an error to tell.  An error stays for who reads: a
 * recv, even one that peeks, would take it, and who reads then would find the end of the stream. */
bool sockets_stream_tcp_is_silent(int fd);

/* Who spins looks at TCP, too, now and then: it may be faster than what tells of its bytes. */
bool sockets_stream_tcp_has_some(const struct sockets_stream *s, int fd, uint32_t turn);

/* Without the lock, of a carried stream whose ring was recalled: until the other end tells what
 * becomes of it (carrier.h, given_back). */
int sockets_stream_await_given_back(struct sockets_stream *s, uint64_t until);

enum { SOCKETS_STREAK = 64 << 10 }; /* bytes one way without an answer: bulk, which is TCP's */

/* How much of such has come; of two threads at a time one may be left out. */
static inline uint64_t sockets_stream_streak(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->record->rx.streak, memory_order_relaxed);
}
static inline void sockets_stream_set_streak(struct sockets_stream *s, uint64_t bytes)
{
    if (sockets_stream_streak(s) != bytes)
        atomic_store_explicit(&s->record->rx.streak, bytes, memory_order_relaxed);
}

/* Whether this end receives such from another host. */
static inline bool sockets_stream_is_bulk(const struct sockets_stream *s)
{
    return s->carrier && sockets_stream_streak(s) > SOCKETS_STREAK;
}

static inline enum sockets_spin_for sockets_stream_spins_for(const struct sockets_stream *s)
{
    if (s->carrier)
        return SOCKETS_SPIN_FAR;
    return sockets_stream_streak(s) > SOCKETS_STREAK ? SOCKETS_SPIN_STREAM : SOCKETS_SPIN_NEAR;
}

/* Of another host, from whom TCP brings all that comes. */
static inline bool sockets_stream_is_tcps(const struct sockets_stream *s)
{
    return sockets_stream_is_bulk(s) || sockets_carrier_is_resting(s);
}

/* What a read of TCP has brought: bytes, its end, or an error.  The receiver's lock. */
static inline void sockets_stream_publish_taken(struct sockets_stream *s, ssize_t n)
{
    if (n > 0) {
        s->record->rx.taken += (uint64_t)n;
        atomic_store_explicit(&s->rx->taken, s->record->rx.taken, memory_order_release);
    } else if (n == 0) {
        s->record->rx.eof = true;
    }
}

/* Armed, without locks: take what TCP brings, in one call of the kernel that may sleep (direct.c).
 * False: the stream is not in TCP, or its sender might leave it. */
bool sockets_stream_receive_direct(struct sockets_stream *s, int fd, struct msghdr *msg, int flags,
                                   bool takes, ssize_t *n);

/* What the kernel is asked for by who sleeps, and may be cancelled there (cancel.c): `undo`, and
 * leave the stream.  Who sends does not know what TCP has got of it by then: it stays in
 * `inflight`, so that the stream stays with TCP. */
ssize_t sockets_stream_sleep_recv(struct sockets_stream *s, void (*undo)(struct sockets_stream *s),
                                  int fd, int flags); /* one byte */
ssize_t sockets_stream_sleep_recvmsg(struct sockets_stream *s,
                                     void (*undo)(struct sockets_stream *s), int fd,
                                     struct msghdr *msg, int flags);
ssize_t sockets_stream_sleep_sendmsg(struct sockets_stream *s, int fd, const struct msghdr *msg,
                                     int flags);
int sockets_stream_sleep_poll(struct sockets_stream *s, struct pollfd *fds, nfds_t count);

enum { SOCKETS_MOST_BELLS = 2 }; /* that are ever under way */

static inline uint32_t sockets_stream_senders_phase(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->phase, memory_order_acquire);
}
static inline bool sockets_stream_sender_moved_on(const struct sockets_stream *s)
{
    return sockets_stream_senders_phase(s) != s->record->rx.phase;
}

/* Of a receiver in a phase of TCP whose sender has moved on: to the last phase of the ring.  Those
 * of TCP that are left out brought nothing, or the sender could not have entered the ring. */
static inline void sockets_stream_to_ring_phase(struct sockets_stream *s)
{
    const uint32_t theirs = sockets_stream_senders_phase(s);

    s->record->rx.phase = sockets_phase_is_ring(theirs) ? theirs : theirs - 1;
}

/* The peer has broken the rules: end the connection.  Returns -ECONNRESET. */
int sockets_stream_break(struct sockets_stream *s, int fd);

/* To which size its ring may grow, whose other end must have room for as much; and that a ring has
 * changed its own. */
uint32_t sockets_stream_log_max(const struct sockets_stream *s);
void sockets_stream_account_growth(uint32_t before, uint32_t after);

/* A receiver that is with TCP got no bytes.  0: it wanted none, or the stream has ended, or *moved:
 * the sender had gone on to the ring before; -EAGAIN: it may have.  Waits for a moment if the
 * carrier, which is to say so, is slower than TCP. */
ssize_t sockets_stream_end_by_tcp(struct sockets_stream *s, int fd, bool *moved);

/* Take bells that nobody needs away from TCP. */
void sockets_stream_drain(struct sockets_stream *s, int fd);

#endif
