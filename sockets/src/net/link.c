/* SPDX-License-Identifier: BSD-3-Clause
 *
 * link.c - the carrier between hosts: what it does for the stream, and in the place of its threads.
 */
#include "net/link.h"
#include "net/judge.h"
#include "real/hidden.h"
#include "record/pause.h"
#include "stream/internal.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ACK_EVERY = 16,    /* messages taken in, for one that says so */
    TELL_HEAD = 32768, /* bytes taken from a ring that its sender does not know of */
    TELL_TCP = 32768,  /* whoever takes more from TCP at once is no reader of short messages */
    TELL_LOG_MAX = 10,
    REST_NS = 300000,    /* between two looks while nothing is urgent ... */
    GLANCE_NS = 50000,   /* ... and by those that look again if they lack something */
    LOOKED_NS = 2000000, /* so long after one has looked another is expected to */
};

int (*sockets_link_descriptor_of)(const struct sockets_stream *s);
void (*sockets_link_wake)(void);

static struct sockets_link *link_of(struct sockets_stream *s)
{
    return (struct sockets_link *)s->carrier;
}

/* While both directions are with TCP nothing is urgent. */
static bool is_at_rest(const struct sockets_stream *s)
{
    return !sockets_phase_is_ring(atomic_load_explicit(&s->rx->phase, memory_order_relaxed)) &&
           !sockets_phase_is_ring(atomic_load_explicit(&s->tx->phase, memory_order_relaxed));
}

static void tell(struct sockets_link *link, bool only_news)
{
    bool stolen;
    const bool locked = sockets_lock_take(&link->lock, &stolen);

    if (!locked && link->busy) {
        link->owing = true;
        sockets_link_wake();
        return;
    }
    link->busy = true;
    if (!only_news || !sockets_link_has_told(link))
        sockets_link_flush(link);
    link->busy = false;
    if (sockets_wire_is_behind(&link->writer))
        sockets_link_wake(); /* who sees to the rest */
    if (locked)
        sockets_lock_give(&link->lock);
}

static void link_publish(struct sockets_stream *s)
{
    tell(link_of(s), false);
}

/* ---- in the place of a thread that is in no call --------------------------------------- */

/* The other end sleeps although the ring has bytes for it, and no bell is on its way. */
static bool sleeper_lacks_bell(const struct sockets_stream *s)
{
    return sockets_phase_is_ring(s->record->tx.phase) && !atomic_load(&s->tx->recall) &&
           atomic_load(&s->tx->armed) && !atomic_load(&s->tx->belled) &&
           sockets_ring_unsent(s->tx, &s->record->tx.ring) > 0;
}

/* The other end uses its ring, and Nagle's algorithm may hold back what this one has given TCP: no
 * answer brings an acknowledgement any more. */
static bool is_held_back(const struct sockets_stream *s)
{
    return atomic_load_explicit(&s->rx->phase, memory_order_relaxed) != 0 &&
           !atomic_load_explicit(&s->record->prompt, memory_order_relaxed);
}

static bool wants_something(const struct sockets_stream *s)
{
    const struct sockets_record *record = s->record;
    const bool ring = sockets_phase_is_ring(record->tx.phase);

    if (is_held_back(s) || record->tx.bell != SOCKETS_BELL_RUNG)
        return true;
    if (atomic_load(&s->tx->recall))
        return ring || sockets_stream_owes(s);
    return ring &&
           (atomic_load(&s->tx->want_tcp) || atomic_load(&record->pinned) || sleeper_lacks_bell(s));
}

/* The ring is to be left, but not in haste: what its receiver has not read when it hands the
 * connection on cannot be recalled after that. */
static void leave_for_tcp(struct sockets_stream *s, int fd)
{
    if (!sockets_stream_may_leave(s))
        return;
    sockets_stream_leave_ring(s);
    sockets_stream_repay(s, fd);
}

/* The other end sleeps, recalls, or wants TCP: what the next call would do, whose thread may not
 * come soon.  The one who has the lock sees to it, too, or the agent does the next time. */
static void link_react(struct sockets_link *link)
{
    struct sockets_stream *s = link->stream;
    int fd;

    if (!wants_something(s) || !sockets_lock_try(&s->record->tx.lock))
        return;
    fd = sockets_link_descriptor_of(s);
    if (fd >= 0 && wants_something(s)) {
        if (is_held_back(s))
            sockets_stream_send_at_once(s, fd);
        if (sleeper_lacks_bell(s))
            sockets_stream_ring_bell(s, fd);
        if (sockets_stream_owes(s))
            sockets_stream_repay(s, fd);
        if (atomic_load(&s->tx->recall) || atomic_load(&s->tx->want_tcp) ||
            atomic_load(&s->record->pinned))
            leave_for_tcp(s, fd);
    }
    sockets_lock_give(&s->record->tx.lock);
}

/* ---- resting --------------------------------------------------------------------------- */

/* Of the two ends the accepting one judges. */
static bool shall_rest(const struct sockets_link *link)
{
    return link->stream->is_server ? sockets_judge_says_tcp() : link->told_to_rest;
}

/* Under the lock.  A sender that knew of it before it could enter the ring stays with TCP
 * (receive.c, take_rest): it answers the message that says so. */
static bool rest_is_known(const struct sockets_link *link)
{
    return link->rests && (link->last.flags & SOCKETS_WIRE_RESTS) &&
           (int32_t)(link->out_taken - link->rest_told) >= 0 &&
           !sockets_phase_is_ring(sockets_stream_senders_phase(link->stream));
}

/* Under the lock. */
static void obey_judge(struct sockets_link *link)
{
    const struct sockets_stream *s = link->stream;
    const bool rests = link->rests & SOCKETS_REST_JUDGED;

    if (shall_rest(link) != rests) {
        link->rests ^= SOCKETS_REST_JUDGED;
        link->owing = true;
    }
    atomic_store_explicit(&link->carrier.resting,
                          (link->rests & SOCKETS_REST_JUDGED) && rest_is_known(link) &&
                              !sockets_stream_has_unread(s) && !sockets_stream_bell_is_due(s),
                          memory_order_release);
}

static uint32_t ack_every(void)
{
    return sockets_link_window < ACK_EVERY ? sockets_link_window : ACK_EVERY;
}

/* Under the lock. */
static void link_work(struct sockets_link *link)
{
    link->busy = true;
    if (link->state == SOCKETS_LINK_NETWORK)
        sockets_link_take_network(link);
    else
        sockets_link_take_control(link);
    link->busy = false;
    link_react(link);
    obey_judge(link);
    atomic_store_explicit(&link->asleep, (link->rests & SOCKETS_REST_ASLEEP) && rest_is_known(link),
                          memory_order_relaxed);
    link->busy = true;
    if (link->owing)
        sockets_link_flush(link);
    if (link->in - link->in_told >= ack_every())
        sockets_link_acknowledge(link);
    link->busy = false;
}

static void look_at(struct sockets_link *link, uint64_t now)
{
    if (!sockets_lock_try(&link->lock))
        return;
    if (link->stream) {
        atomic_store_explicit(&link->looked_ns, now, memory_order_relaxed);
        link_work(link);
    }
    sockets_lock_give(&link->lock);
}

static void link_glance(struct sockets_stream *s)
{
    struct sockets_link *link = link_of(s);
    const uint64_t now = sockets_now_ns();

    if (now - atomic_load(&link->looked_ns) >= (is_at_rest(s) ? REST_NS : GLANCE_NS))
        look_at(link, now);
}

static void link_look(struct sockets_stream *s)
{
    struct sockets_link *link = link_of(s);

    if (atomic_load_explicit(&link->asleep, memory_order_relaxed) && is_at_rest(s))
        link_glance(s);
    else
        look_at(link, sockets_now_ns());
}

static void retire_if_many(struct sockets_stream *s)
{
    if (atomic_load(&sockets_stream_count) <= sockets_link_many ||
        atomic_exchange(&s->record->pinned, 1))
        return;
    atomic_store(&s->record->reason, SOCKETS_MANY);
    atomic_store(&s->rx->want_tcp, 1);
    sockets_carrier_publish(s);
}

/* What the agent looks at, and those that wait for data do not. */
static void look_for_death(struct sockets_link *link)
{
    const bool hidden = sockets_hidden_begin();

    if (link->state == SOCKETS_LINK_NETWORK && sockets_lane_is_dead(link->lane))
        sockets_link_fall_back(link);
    sockets_hidden_end(hidden);
    link->busy = true;
    sockets_link_take_control(link);
    link->busy = false;
}

enum sockets_link_served sockets_link_serve(struct sockets_link *link)
{
    enum sockets_link_served served = SOCKETS_LINK_GONE;

    if (!sockets_lock_try(&link->lock))
        return SOCKETS_LINK_AGAIN;
    if (link->stream) {
        retire_if_many(link->stream);
        look_for_death(link);
        link_work(link);
        link->handed = link->owing;
        served = link->owing || link->later || link->ended_ns || wants_something(link->stream) ||
                         (link->state == SOCKETS_LINK_NETWORK && sockets_lane_has_more(link->lane))
                     ? SOCKETS_LINK_AGAIN
                     : SOCKETS_LINK_IDLE;
        if (link->state == SOCKETS_LINK_LOST)
            served = SOCKETS_LINK_IDLE;
    }
    sockets_lock_give(&link->lock);
    return served;
}

bool sockets_link_is_looked_at(struct sockets_link *link)
{
    bool stolen, looked;

    if (!sockets_lock_take(&link->lock, &stolen))
        return false;
    looked = link->stream && atomic_load(&link->stream->rx->armed) == 0 &&
             !is_at_rest(link->stream) &&
             sockets_now_ns() - atomic_load(&link->looked_ns) < LOOKED_NS;
    sockets_lock_give(&link->lock);
    return looked;
}

/* ---- who takes and waits ------------------------------------------------------------- */

/* Two readers at a time may count something twice, or not at all. */
static bool count_for_judge(struct sockets_link *link, const struct sockets_stream *s)
{
    const uint64_t all = s->record->rx.taken + s->record->rx.head;
    const uint64_t fresh = all - link->judged;

    link->judged = all;
    return sockets_judge_count(fresh);
}

static void link_taken(struct sockets_stream *s)
{
    struct sockets_link *link = link_of(s);
    const uint64_t untold =
        atomic_load_explicit(&s->rx->head, memory_order_relaxed) - link->head_told;

    if (s->is_server && count_for_judge(link, s))
        sockets_link_wake();
    if (untold >= TELL_HEAD || (untold > 0 && sockets_link_is_being_left(s)))
        link_publish(s);
}

/* Nobody spins as long as a reader has the gate. */
static bool link_rests(struct sockets_stream *s)
{
    struct sockets_link *link = link_of(s);
    bool known;

    if (!sockets_lock_try(&link->lock))
        return false;
    if (!link->rests) {
        link->rests = SOCKETS_REST_ASLEEP;
        link->busy = true;
        sockets_link_flush(link);
        link->busy = false;
    }
    known = rest_is_known(link);
    sockets_lock_give(&link->lock);
    return known && !sockets_stream_sender_moved_on(s);
}

static void end_rest(struct sockets_link *link, const struct sockets_stream *s)
{
    bool stolen;

    if (!sockets_lock_take(&link->lock, &stolen))
        return;
    if (s->record->rx.reader == 0) {
        link->rests &= ~(uint32_t)SOCKETS_REST_ASLEEP;
        atomic_store(&link->asleep, false);
    }
    sockets_lock_give(&link->lock);
}

/* A sender that is with TCP enters the ring when it knows that all of that was taken.  Where that
 * is in vain again and again, because what is waited for takes longer, it is told less and less
 * often.
 */
static void link_spins(struct sockets_stream *s)
{
    struct sockets_link *link = link_of(s);
    const uint64_t taken = atomic_load_explicit(&s->rx->taken, memory_order_relaxed);

    if (link->rests & SOCKETS_REST_ASLEEP)
        end_rest(link, s);
    if (!atomic_load_explicit(&link->looks, memory_order_relaxed))
        atomic_store(&link->looks, true);
    if (sockets_phase_is_ring(sockets_stream_senders_phase(s)) || taken == link->taken_told ||
        atomic_load(&s->rx->want_tcp))
        return;
    if (taken - link->taken_told > TELL_TCP) {
        link->taken_told = taken;
        return;
    }
    if (++link->tell_wait < 1u << link->tell_log)
        return;
    link->tell_wait = 0;
    link->told = true;
    link_publish(s);
}

/* The agent looks for what crosses that on its way.  Who is woken again and again by what is
 * withheld from it has said once that it sleeps. */
static void link_sleeps(struct sockets_stream *s)
{
    struct sockets_link *link = link_of(s);

    atomic_store(&link->looks, false);
    sockets_lane_add_sleeper(link->lane);
    if (!link->told && !sockets_phase_is_ring(sockets_stream_senders_phase(s)))
        return;
    if (link->told && link->tell_log < TELL_LOG_MAX)
        link->tell_log++;
    link->told = false;
    tell(link, true);
    sockets_link_wake();
}

static void link_wakes(struct sockets_stream *s)
{
    sockets_lane_remove_sleeper(link_of(s)->lane);
}

/* ---- the stream's side --------------------------------------------------------------- */

static int link_seen(struct sockets_stream *s, uint32_t phase)
{
    const struct sockets_link *link = link_of(s);

    if ((int32_t)(atomic_load_explicit(&link->seen, memory_order_acquire) - phase) >= 0)
        return 1;
    return atomic_load(&link->carrier.lost) ? -EPIPE : 0;
}

void sockets_link_note_seen(struct sockets_link *link)
{
    atomic_fetch_add(&link->news, 1);
    if (atomic_load(&link->waiters) > 0)
        syscall(SYS_futex, &link->news, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void link_disturb(struct sockets_stream *s)
{
    sockets_link_note_seen(link_of(s));
}

/* As a call of the kernel's that blocks, it goes on after a signal's handler if the program says so
 * (SA_RESTART), unless there is a limit. */
static int link_await_seen(struct sockets_stream *s, uint32_t phase, const struct timespec *limit)
{
    struct sockets_link *link = link_of(s);
    const uint32_t news = atomic_load(&link->news);
    int error = 0;

    atomic_fetch_add(&link->waiters, 1);
    sockets_lane_add_sleeper(link->lane);
    sockets_link_wake(); /* who looks from now on */
    if (link_seen(s, phase) == 0 && !atomic_load(&s->tx->gone) &&
        atomic_load(&s->record->tx.shut) != SOCKETS_SHUT &&
        syscall(SYS_futex, &link->news, FUTEX_WAIT_PRIVATE, news, limit) < 0)
        error = errno == EINTR ? -EINTR : errno == ETIMEDOUT ? -EAGAIN : 0;
    sockets_lane_remove_sleeper(link->lane);
    atomic_fetch_sub(&link->waiters, 1);
    return error;
}

static int link_given_back(struct sockets_stream *s)
{
    const struct sockets_link *link = link_of(s);

    if (atomic_load(&link->heard) && !sockets_phase_is_ring(sockets_stream_senders_phase(s)))
        return atomic_load(&link->returned);
    return atomic_load(&link->carrier.lost) ? -EPIPE : -EAGAIN;
}

static void link_close(struct sockets_carrier *carrier)
{
    struct sockets_link *link = (struct sockets_link *)carrier;
    bool stolen;

    if (link->stream && link->stream->is_server)
        sockets_judge_remove();
    if (sockets_lock_take(&link->lock, &stolen)) {
        link->stream = NULL;
        sockets_lock_give(&link->lock);
    }
    sockets_link_wake();
}

static const struct sockets_carrier_ops link_ops = {
    .look = link_look,
    .glance = link_glance,
    .publish = link_publish,
    .taken = link_taken,
    .spins = link_spins,
    .sleeps = link_sleeps,
    .wakes = link_wakes,
    .rests = link_rests,
    .seen = link_seen,
    .await_seen = link_await_seen,
    .disturb = link_disturb,
    .given_back = link_given_back,
    .close = link_close,
};

/* ---- life ---------------------------------------------------------------------------- */

struct sockets_link *sockets_link_new(struct sockets_lane *lane, int control)
{
    struct sockets_link *link = calloc(1, sizeof(*link));

    if (!link) {
        sockets_lane_free(lane);
        sockets_hidden_close_made(control);
        return NULL;
    }
    link->carrier.ops = &link_ops;
    link->lane = lane;
    link->control = control;
    link->looks = true;
    return link;
}

void sockets_link_begin(struct sockets_link *link, struct sockets_stream *s)
{
    sockets_ring_init(s->rx, &link->ring);
    link->stream = s;
    link->judged = s->record->rx.taken + s->record->rx.head;
    if (s->is_server)
        sockets_judge_add();
    sockets_carrier_publish(s);
}

void sockets_link_free(struct sockets_link *link)
{
    sockets_lane_free(link->lane);
    sockets_hidden_close_made(link->control);
    free(link);
}
