/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far.c - what a stream does differently where its segment is carried between hosts.
 */
#include "real/real.h"
#include "record/pause.h"
#include "stream/carrier.h"
#include "stream/internal.h"
#include <errno.h>
#include <sched.h>

#define ALIVE_NS 2000000000ull /* ... and those of one that lives */

enum {
    SETTLE_NS = 10000000, /* how long a call waits that must not block ... */
    BRIEF_NS = 1000000,   /* ... and another one before it sleeps */
    KILLED_NS = 20000000, /* how long the last bytes of a killed sender may be on their way, ... */
    PROBE = 8,            /* looks at the carrier, while spinning, between two at TCP */
    LONG_NS = 2000000,    /* for which TCP is ahead of the carrier only where a path is dead ... */
    NAP_NS = 1000000,     /* ... and how long then nobody looks */
};

/* ---- the sender's side ------------------------------------------------------------- */

static int await_seen(struct sockets_stream *s, uint32_t phase, uint64_t until)
{
    int seen;

    while ((seen = sockets_carrier_seen(s, phase)) == 0 && !atomic_load(&s->tx->gone) &&
           sockets_now_ns() < until) {
        sockets_lock_give(&s->record->tx.lock);
        sockets_carrier_look(s);
        sched_yield();
        sockets_stream_lock_writer(s);
    }
    return seen;
}

/* Nobody reads what is sent from now on. */
static bool is_read_no_more(const struct sockets_stream *s)
{
    return atomic_load(&s->tx->gone) || atomic_load(&s->record->tx.shut) == SOCKETS_SHUT;
}

void sockets_stream_note_shut(struct sockets_stream *s)
{
    atomic_store(&s->record->tx.shut, SOCKETS_SHUT);
    if (s->carrier)
        s->carrier->ops->disturb(s);
}

/* For as long as a send may block: the other host may be stopped. */
static int sleep_until_seen(struct sockets_stream *s, int fd, uint32_t phase)
{
    struct timeval limit = {0};
    socklen_t length = sizeof(limit);
    struct timespec left;
    uint64_t until;
    int error;

    sockets_real.getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &length);
    until = sockets_now_ns() + (uint64_t)limit.tv_sec * 1000000000 + (uint64_t)limit.tv_usec * 1000;
    do {
        const uint64_t ns = sockets_ns_until(until);

        left = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        sockets_lock_give(&s->record->tx.lock);
        error = s->carrier->ops->await_seen(s, phase, limit.tv_sec || limit.tv_usec ? &left : NULL);
        sockets_stream_lock_writer(s);
    } while (error == 0 && sockets_carrier_seen(s, phase) == 0 && !is_read_no_more(s));
    return error;
}

static bool tcp_has_ended(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};

    return sockets_real.poll(&p, 1, 0) > 0;
}

int sockets_stream_settle(struct sockets_stream *s, int fd, bool block)
{
    const uint32_t now = s->record->tx.phase, phase = sockets_phase_is_ring(now) ? now : now - 1;
    int seen, error = 0;

    if (now == 0 || is_read_no_more(s)) /* the kernel tells */
        return 0;
    seen = await_seen(s, phase, sockets_now_ns() + (block ? BRIEF_NS : SETTLE_NS));
    if (seen == 0 && block && !is_read_no_more(s)) {
        error = sleep_until_seen(s, fd, phase);
        seen = sockets_carrier_seen(s, phase);
    }
    if (is_read_no_more(s))
        return 0;
    if (seen < 0 && !tcp_has_ended(fd)) /* which says itself what becomes of a send */
        return sockets_stream_break(s, fd);
    if (seen == 0) {
        atomic_fetch_add(&s->withheld, 1); /* TCP may have had space all along: it has no edge */
        return error < 0 ? error : -EAGAIN;
    }
    return 0;
}

void sockets_stream_settle_end(struct sockets_stream *s)
{
    await_seen(s, s->record->tx.phase, sockets_now_ns() + SOCKETS_AWAIT_NS);
}

int sockets_stream_await_given_back(struct sockets_stream *s, uint64_t until)
{
    int given_back;

    while ((given_back = s->carrier->ops->given_back(s)) == -EAGAIN && sockets_now_ns() < until) {
        sockets_carrier_look(s);
        sched_yield();
    }
    return given_back;
}

/* ---- the receiver's side ------------------------------------------------------------- */

ssize_t sockets_stream_withhold(struct sockets_stream *s)
{
    if (atomic_load_explicit(&s->withheld_since, memory_order_relaxed) == 0)
        atomic_store_explicit(&s->withheld_since, sockets_now_ns(), memory_order_relaxed);
    atomic_fetch_add(&s->withheld, 1);
    return -EAGAIN;
}

/* As far as we know the sender is in the ring, and has no bell under way: TCP, which may be faster
 * than the carrier, may have one of which it is still to tell, or the next phase's data. */
bool sockets_stream_may_hear_of_bell(const struct sockets_stream *s)
{
    return s->carrier && !atomic_load(&s->carrier->lost) &&
           sockets_phase_is_ring(sockets_stream_senders_phase(s)) && !sockets_stream_bell_is_due(s);
}

bool sockets_stream_is_withheld_long(const struct sockets_stream *s)
{
    const uint64_t since = atomic_load_explicit(&s->withheld_since, memory_order_relaxed);

    return since != 0 && sockets_now_ns() - since > LONG_NS && !sockets_stream_hint(s);
}

int sockets_stream_nap(const sigset_t *mask)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};

    return sockets_real.ppoll(NULL, 0, &nap, mask);
}

void sockets_stream_shut_reader(struct sockets_stream *s)
{
    atomic_store(&s->record->rx.shut, 1);
}

/* While the carrier is not lost the sender lives, and its word of the end is still to come; unless
 * it was this end that has ended it. */
static uint64_t patience_with(const struct sockets_stream *s)
{
    if (atomic_load(&s->record->rx.shut))
        return 0;
    return atomic_load(&s->carrier->lost) ? KILLED_NS : ALIVE_NS;
}

/* TCP has ended while the carrier says nothing of it: a sender that ends tells so before TCP does;
 * of one that was killed in the ring what it has sent may still be on its way. */
static bool killed_is_all_here(struct sockets_stream *s)
{
    const uint64_t limit = patience_with(s);
    const ssize_t before = sockets_ring_unread(s->rx, s->record->rx.head);
    const uint64_t now = sockets_now_ns();

    if (s->record->rx.killed_ns == 0)
        s->record->rx.killed_ns = now;
    sockets_carrier_look(s);
    return now - s->record->rx.killed_ns >= limit &&
           sockets_ring_unread(s->rx, s->record->rx.head) == before;
}

ssize_t sockets_stream_end_in_ring(struct sockets_stream *s, ssize_t n)
{
    int *const error = &s->record->rx.killed_error;

    if (!s->carrier || sockets_stream_sender_moved_on(s))
        return n;
    if (n < 0)
        *error = (int)n;
    if (!killed_is_all_here(s))
        return sockets_stream_withhold(s);
    n = *error;
    *error = 0;
    return n;
}

/* Whether the phase of which the carrier has told is the sender's last one.  One that wants TCP
 * itself goes to the ring no more, and may end without a word: by a process that shares it.  So may
 * one that was not upgraded yet, as it looks in phase 0. */
static bool has_heard_of_end(const struct sockets_stream *s)
{
    return atomic_load(&s->rx->fin) || atomic_load(&s->carrier->lost) ||
           atomic_load(&s->record->rx.shut) || atomic_load(&s->tx->want_tcp) ||
           sockets_stream_senders_phase(s) == 0;
}

ssize_t sockets_stream_end_by_tcp(struct sockets_stream *s, int fd, bool *moved)
{
    bool told = has_heard_of_end(s), here = false;
    char byte;

    if (!told && sockets_real.recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0)
        return 0;
    while (!told && !here && !sockets_stream_sender_moved_on(s)) {
        here = killed_is_all_here(s);
        if (sockets_now_ns() - s->record->rx.killed_ns >= KILLED_NS)
            break;
        sched_yield();
        told = has_heard_of_end(s);
    }
    *moved = sockets_stream_sender_moved_on(s); /* of which the end is told, too */
    return told || here || *moved ? 0 : sockets_stream_withhold(s);
}

bool sockets_stream_tcp_is_silent(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLRDHUP};

    return sockets_real.poll(&p, 1, 0) == 0;
}

bool sockets_stream_tcp_has_some(const struct sockets_stream *s, int fd, uint32_t turn)
{
    return s->carrier && turn % PROBE == PROBE - 1 && !sockets_stream_tcp_is_silent(fd);
}

static bool has_untold_byte(struct sockets_stream *s, int fd)
{
    char byte;

    return sockets_stream_may_hear_of_bell(s) &&
           sockets_real.recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void sockets_stream_await_bells(struct sockets_stream *s, int fd)
{
    const uint64_t until = sockets_now_ns() + SOCKETS_AWAIT_NS;
    bool stolen;

    if (!sockets_lock_take(&s->record->rx.lock, &stolen))
        return;
    while ((sockets_stream_bell_is_due(s) || has_untold_byte(s, fd)) && !s->record->rx.error &&
           !tcp_has_ended(fd) && sockets_now_ns() < until) {
        sockets_carrier_look(s);
        sockets_stream_drain(s, fd);
        sched_yield();
    }
    sockets_stream_drain(s, fd);
    sockets_lock_give(&s->record->rx.lock);
}

/* Under the lock, which is given up meanwhile: a receiver that has not read all gets a bell as soon
 * as it has seen the ring. */
static void await_leave(struct sockets_stream *s, int fd, uint64_t until)
{
    while (sockets_phase_is_ring(s->record->tx.phase) && sockets_now_ns() < until) {
        if (!sockets_stream_may_leave(s))
            sockets_stream_ring_bell(s, fd);
        if (sockets_stream_may_leave(s))
            return;
        sockets_lock_give(&s->record->tx.lock);
        sockets_carrier_look(s);
        sched_yield();
        sockets_stream_lock_writer(s);
    }
}

void sockets_stream_retire_writer(struct sockets_stream *s, int fd, uint64_t until)
{
    if (!s->carrier || !sockets_stream_lock_writer(s))
        return;
    await_leave(s, fd, until);
    sockets_stream_leave_ring(s);
    await_seen(s, s->record->tx.phase, until);
    sockets_lock_give(&s->record->tx.lock);
}
