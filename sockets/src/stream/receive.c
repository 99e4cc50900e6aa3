/* SPDX-License-Identifier: BSD-3-Clause
 *
 * receive.c - the receiving end of a stream.
 */
#include "real/real.h"
#include "record/pause.h"
#include "spin/spin.h"
#include "stream/internal.h"
#include <errno.h>

enum {
    ASK_EVERY = 16, /* vain reads from the ring until the kernel is asked for the stream's end */
    LONG_READ =
        16 << 10, /* who reads so much leaves the gate open, for the sender to enter the ring */
    TURNS = 64,   /* from phase to phase, in which a sender can make one go in circles */
};

enum { SLEPT = -4096 }; /* no error of the kernel */

/* ---- the kernel's side ------------------------------------------------------------ */

ssize_t sockets_stream_take_bell(struct sockets_stream *s, int fd)
{
    char bell;
    const ssize_t n = sockets_real.recv(fd, &bell, 1, MSG_DONTWAIT);

    if (n < 0)
        return -errno;
    if (n > 0) {
        s->record->rx.drained++;
        sockets_stream_end_withholding(s);
        if (!atomic_load(&s->record->rx.recalled))
            sockets_stream_let_bell(s);
    }
    return n;
}

/* What TCP has while the stream is in the ring.  1: something changed, look again; 0: the stream
 * has ended; -EAGAIN: nothing; another -errno. */
static ssize_t ask_kernel(struct sockets_stream *s, int fd)
{
    char byte;
    ssize_t n;

    if (sockets_stream_bell_is_due(s) && (n = sockets_stream_take_bell(s, fd)) != -EAGAIN)
        return n;
    n = sockets_real.recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0 && errno != ECONNRESET)
        return -errno;
    if (n <= 0)
        return sockets_stream_end_in_ring(s, n < 0 ? -ECONNRESET : 0);
    /* A byte that is no bell belongs to the next phase, which was published before it was sent. */
    if (!sockets_stream_sender_moved_on(s) && !sockets_stream_bell_is_due(s))
        return s->carrier && !atomic_load(&s->carrier->lost) ? sockets_stream_withhold(s) : -EPROTO;
    return n;
}

void sockets_stream_drain(struct sockets_stream *s, int fd)
{
    ssize_t n = 1;

    while (n > 0)
        n = sockets_stream_bell_is_due(s) ? sockets_stream_take_bell(s, fd) : -EAGAIN;
    if (n < 0 && n != -EAGAIN)
        s->record->rx.error = (int)n;
}

/* ---- one attempt ------------------------------------------------------------------ */

struct request {
    struct iovec *iov;
    size_t count;
    int flags;
    enum sockets_take how;
    bool more;  /* than the call has already: urgent data end it */
    bool ask;   /* the kernel, too */
    bool rests; /* who waits sleeps at once */
};

static ssize_t read_ring(struct sockets_stream *s, const struct request *r)
{
    struct sockets_cursor cursor = {r->iov, r->count, 0};
    struct sockets_record *record = s->record;

    if (__builtin_expect(atomic_load_explicit(&record->rx.recalled, memory_order_relaxed), 0))
        return 0;
    return sockets_ring_read(s->rx, &record->rx.head, s->rx_data, &cursor, r->how);
}

/* In an even phase; this side has the gate, so the phase cannot end meanwhile. */
static ssize_t read_tcp(struct sockets_stream *s, int fd, const struct request *r)
{
    struct msghdr msg = {.msg_iov = r->iov, .msg_iovlen = r->count};
    ssize_t n;

    while (sockets_stream_bell_is_due(s)) /* rung in the phase before */
        if ((n = sockets_stream_take_bell(s, fd)) <= 0)
            return n;
    if (r->more && sockets_stream_may_have_urgent(s) && sockets_stream_is_tcp_at_mark(fd))
        return 0;
    n = sockets_real.recvmsg(fd, &msg, r->flags | MSG_DONTWAIT);
    if (n < 0)
        return -errno;
    if (r->how != SOCKETS_PEEK)
        sockets_stream_publish_taken(s, n);
    return n;
}

/* The stream is in TCP.  Returns as try_receive; *moved: the sender has gone on to the ring. */
static ssize_t receive_tcp(struct sockets_stream *s, int fd, const struct request *r, bool *moved)
{
    const bool shares = sockets_stream_shares_gate(s);
    ssize_t n;

    if (!shares && !sockets_stream_take_gate(s, fd))
        return -EAGAIN;
    *moved = sockets_stream_sender_moved_on(s);
    n = *moved ? 0 : read_tcp(s, fd, r);
    if (__builtin_expect(shares, 0))
        return n;
    sockets_stream_give_gate(s); /* which the carrier's word of a new phase needs */
    return n == 0 && !*moved && s->carrier ? sockets_stream_end_by_tcp(s, fd, moved) : n;
}

void sockets_stream_note_told(struct sockets_stream *s)
{
    atomic_store_explicit(&s->record->rx.told, 1, memory_order_relaxed);
}

/* Whether the kernel may know more than an empty ring. */
static bool has_to_ask(struct sockets_stream *s, const struct request *r)
{
    struct sockets_record *record = s->record;

    if (atomic_load_explicit(&record->rx.told, memory_order_relaxed)) {
        atomic_store_explicit(&record->rx.told, 0, memory_order_relaxed);
        return true;
    }
    return r->ask || atomic_load_explicit(&s->rx->fin, memory_order_relaxed) ||
           atomic_load_explicit(&record->rx.eof, memory_order_relaxed) ||
           record->rx.empty++ % ASK_EVERY == ASK_EVERY - 1;
}

/* The ring is empty.  Returns as try_receive, or 1 with *again: there may be more. */
static ssize_t ring_is_empty(struct sockets_stream *s, int fd, const struct request *r, bool *again)
{
    const uint32_t theirs = sockets_stream_senders_phase(s);
    struct sockets_record *record = s->record;
    ssize_t n;

    if (theirs != record->rx.phase) {
        if ((n = read_ring(s, r)) != 0) /* published before the phase */
            return n;
        record->rx.phase = theirs;
        *again = true;
        return 1;
    }
    if (!has_to_ask(s, r))
        return -EAGAIN;
    n = ask_kernel(s, fd);
    if (n == 0 && atomic_exchange(&record->rx.recalled, 0))
        atomic_store(&s->rx->recall, 0);        /* who should have given it back has gone */
    if (n == 0 && (n = read_ring(s, r)) == 0) { /* what was written before the end */
        *again = sockets_stream_sender_moved_on(s);
        record->rx.eof = !*again;
        return 0;
    }
    *again = n == 1;
    return n;
}

/* Under the lock: the bytes taken, 0 at the end of the stream, -EAGAIN or another -errno. */
static ssize_t try_receive(struct sockets_stream *s, int fd, const struct request *r)
{
    struct sockets_record *record = s->record;

    for (int turn = 0; turn < TURNS; turn++) {
        bool again = false;
        ssize_t n;

        if (!sockets_phase_is_ring(record->rx.phase)) {
            n = receive_tcp(s, fd, r, &again);
            if (!again)
                return n;
            sockets_stream_to_ring_phase(s);
            continue;
        }
        n = read_ring(s, r);
        if (n > 0 && r->how != SOCKETS_PEEK && sockets_stream_bell_is_due(s) &&
            sockets_ring_unread(s->rx, record->rx.head) == 0)
            sockets_stream_drain(s, fd); /* one that is left would turn the end into a reset */
        if (n != 0)
            return n;
        n = ring_is_empty(s, fd, r, &again);
        if (!again)
            return n;
    }
    return -EAGAIN;
}

static ssize_t locked_receive(struct sockets_stream *s, int fd, const struct request *r)
{
    bool stolen;
    ssize_t n;

    sockets_carrier_glance(s);
    if (!sockets_lock_take(&s->record->rx.lock, &stolen))
        return -EINTR;
    n = try_receive(s, fd, r);
    if (n == -EAGAIN && s->carrier) /* what has come, but was not looked at */
        n = sockets_stream_has_data(s) ? try_receive(s, fd, r) : n;
    if (n == -EAGAIN && s->record->rx.error) {
        n = s->record->rx.error;
        s->record->rx.error = 0;
    }
    if (n != -EAGAIN)
        sockets_stream_end_withholding(s);
    sockets_lock_give(&s->record->rx.lock);
    return n == -EPROTO ? sockets_stream_break(s, fd) : n;
}

/* ---- waiting ---------------------------------------------------------------------- */

bool sockets_stream_readable(struct sockets_stream *s, int fd)
{
    char byte;
    struct iovec iov = {&byte, 1};
    const struct request r = {&iov, 1, MSG_PEEK, SOCKETS_PEEK, false, true, false};

    if (sockets_stream_has_data(s) || sockets_carrier_is_resting(s) ||
        (!s->carrier && !sockets_stream_bell_is_due(s)))
        return true;
    return locked_receive(s, fd, &r) != -EAGAIN;
}

static size_t total_of(const struct request *r)
{
    const struct sockets_cursor cursor = {r->iov, r->count, 0};

    return sockets_cursor_left(&cursor);
}

static int same_number(const struct sockets_stream *s, int fd)
{
    (void)s;
    return fd;
}

int (*sockets_stream_descriptor_of)(const struct sockets_stream *s, int fd) = same_number;

/* Armed, as the other end may hear that this one rests no more.  False: look as always. */
static bool receive_as_tcp(struct sockets_stream *s, int fd, const struct request *r, ssize_t *n)
{
    struct msghdr msg = {.msg_iov = r->iov, .msg_iovlen = r->count};
    bool direct;

    sockets_stream_arm(s);
    direct = sockets_stream_receive_direct(s, fd, &msg, r->flags, r->how != SOCKETS_PEEK, n);
    sockets_stream_disarm(s);
    return direct;
}

/* Armed, and nothing was there: sleep in a recv of the kernel, so that signals, SA_RESTART,
 * SO_RCVTIMEO and errors are as they are without us.  1: look again. */
static ssize_t sleep_in_kernel(struct sockets_stream *s, int fd, const struct request *r)
{
    struct msghdr msg = {.msg_iov = r->iov, .msg_iovlen = r->count};
    ssize_t n;

    atomic_fetch_add_explicit(&sockets_counters->sleeps, 1, memory_order_relaxed);
    if (!(r->more && sockets_stream_may_have_urgent(s)) && total_of(r) < LONG_READ &&
        (r->rests || !s->carrier) &&
        sockets_stream_receive_direct(s, fd, &msg, r->flags, r->how != SOCKETS_PEEK, &n))
        return n;
    if (sockets_stream_sleep_recv(s, sockets_stream_disarm, fd, MSG_PEEK) < 0)
        return -errno;
    if (__builtin_expect(sockets_stream_is_withheld_long(s), 0))
        sockets_stream_nap(NULL);
    return SLEPT;
}

static bool spin_for_data(struct sockets_stream *s, int fd, struct request *r)
{
    struct sockets_spin spin;

    if ((r->rests = sockets_stream_is_tcps(s)))
        return false;
    sockets_spin_begin(&spin, sockets_stream_spins_for(s));
    r->rests = spin.limit_ns == 0;
    if (!r->rests)
        sockets_carrier_spins(s);
    while (!sockets_stream_hint(s) && !sockets_stream_tcp_has_some(s, fd, spin.turn))
        if (!sockets_spin_turn(&spin))
            return false;
    sockets_spin_won(&spin);
    return true;
}

/* Nothing was there, and spinning did not help. */
static ssize_t sleep_armed(struct sockets_stream *s, int fd, struct request *r)
{
    ssize_t n = -EAGAIN;

    sockets_stream_arm(s);
    sockets_stream_answer(s, fd);
    if (sockets_stream_hint(s) || sockets_stream_bell_is_due(s)) {
        r->ask = true;
        n = locked_receive(s, fd, r);
    }
    if (n == -EAGAIN) {
        const uint64_t slept_at = sockets_now_ns();

        n = sleep_in_kernel(s, fd, r);
        sockets_stream_learn_wake(s, slept_at);
    }
    sockets_stream_disarm(s);
    return n;
}

/* The same.  Meanwhile the descriptor may be closed, and its number given to another file. */
static ssize_t wait_for_data(struct sockets_stream *s, int *fd, struct request *r)
{
    ssize_t n = sockets_stream_doze(s);

    if (n < 0)
        return n;
    *fd = sockets_stream_descriptor_of(s, *fd);
    if (n > 0)
        return SLEPT;
    n = sleep_armed(s, *fd, r);
    *fd = sockets_stream_descriptor_of(s, *fd);
    return n;
}

/* Until something can be taken.  Afterwards `*fd` is a descriptor of the stream still, or -1. */
static ssize_t receive_some(struct sockets_stream *s, int *fd, struct request *r, bool block)
{
    ssize_t n;

    if (block && sockets_stream_is_tcps(s) &&
        !(r->more && sockets_stream_may_have_urgent(s))) { /* as if we were not there */
        if (receive_as_tcp(s, *fd, r, &n)) {
            *fd = sockets_stream_descriptor_of(s, *fd);
            return n;
        }
        if ((n = locked_receive(s, *fd, r)) != -EAGAIN)
            return n;
    }
    if (block && !sockets_stream_hint(s) && !spin_for_data(s, *fd, r)) {
        n = wait_for_data(s, fd, r);
        if (n != SLEPT)
            return n;
        r->ask = true;
    }
    for (;;) {
        n = locked_receive(s, *fd, r);
        if (n == -EAGAIN && !block)
            sockets_stream_answer(s, *fd);
        if (n != -EAGAIN || !block)
            return n;
        n = wait_for_data(s, fd, r);
        if (n != SLEPT)
            return n;
        r->ask = true;
    }
}

/* What of the call is to be filled: the rest of the buffer where the data ended, or all. */
static void rest_of(const struct sockets_cursor *cursor, struct iovec *first, struct request *r)
{
    if (cursor->offset == 0) {
        r->iov = (struct iovec *)cursor->iov;
        r->count = cursor->count;
        return;
    }
    *first = (struct iovec){(char *)cursor->iov->iov_base + cursor->offset,
                            cursor->iov->iov_len - cursor->offset};
    r->iov = first;
    r->count = 1;
}

/* Bytes of TCP that follow what was seen in the ring; under the lock. */
static ssize_t peek_beyond_ring(struct sockets_stream *s, int fd, const struct request *r)
{
    struct sockets_record *record = s->record;
    struct msghdr msg = {.msg_iov = r->iov, .msg_iovlen = r->count};
    ssize_t n = -1;

    if (!sockets_stream_take_gate(s, fd))
        return 0;
    sockets_stream_drain(s, fd);
    if (atomic_load(&s->rx->phase) == record->rx.phase + 1 && !sockets_stream_bell_is_due(s) &&
        !sockets_stream_is_tcp_at_mark(fd))
        n = sockets_real.recvmsg(fd, &msg, r->flags | MSG_DONTWAIT);
    sockets_stream_give_gate(s);
    return n > 0 ? n : 0;
}

static ssize_t peek_more(struct sockets_stream *s, int fd, const struct request *r)
{
    bool stolen;
    ssize_t n = 0;

    if (!sockets_lock_take(&s->record->rx.lock, &stolen))
        return 0;
    if (sockets_phase_is_ring(s->record->rx.phase) && sockets_stream_sender_moved_on(s))
        n = peek_beyond_ring(s, fd, r);
    sockets_lock_give(&s->record->rx.lock);
    return n;
}

/* More that is there already: data may lie in TCP and in the ring. */
static ssize_t receive_more(struct sockets_stream *s, int fd, struct request *r, bool filled)
{
    ssize_t n;

    if (!sockets_stream_hint(s) && !sockets_stream_sender_moved_on(s) && !filled)
        return 0;
    r->ask = false;
    n = locked_receive(s, fd, r);
    if (n < 0 && n != -EAGAIN)
        s->record->rx.error = (int)n;
    return n;
}

/* TCP waits for data even if it is asked for none. */
static ssize_t receive_nothing(struct sockets_stream *s, int fd, int flags, bool block)
{
    char byte;
    struct iovec iov = {&byte, 1};
    struct request r = {&iov, 1, flags | MSG_PEEK, SOCKETS_PEEK, false, false, false};
    const ssize_t n = receive_some(s, &fd, &r, block);

    return n > 0 ? 0 : n;
}

ssize_t sockets_stream_receive(struct sockets_stream *s, int fd, const struct iovec *iov,
                               size_t count, int flags)
{
    const bool block = !(flags & MSG_DONTWAIT) && !atomic_load(&s->record->nonblocking);
    struct sockets_cursor cursor = {iov, count, 0};
    struct iovec first;
    struct request r = {.flags = flags & ~MSG_WAITALL,
                        .how = flags & MSG_PEEK    ? SOCKETS_PEEK
                               : flags & MSG_TRUNC ? SOCKETS_DISCARD
                                                   : SOCKETS_TAKE};
    ssize_t got = 0, n;

    if (sockets_cursor_left(&cursor) == 0)
        return receive_nothing(s, fd, flags, block);
    rest_of(&cursor, &first, &r);
    n = receive_some(s, &fd, &r, block);
    while (n > 0) {
        got += n;
        sockets_cursor_advance(&cursor, (size_t)n);
        if (cursor.count == 0 ||
            (sockets_stream_may_have_urgent(s) && sockets_stream_is_at_mark(s, fd)))
            break;
        r.more = true;
        rest_of(&cursor, &first, &r);
        if (r.how == SOCKETS_PEEK) {
            got += peek_more(s, fd, &r);
            break;
        }
        n = (flags & MSG_WAITALL) && block ? receive_some(s, &fd, &r, block)
                                           : receive_more(s, fd, &r, cursor.offset == 0);
    }
    if (got > 0) {
        sockets_carrier_taken(s);
        s->record->tx.streak = 0;
        sockets_stream_set_streak(s, sockets_stream_streak(s) + (uint64_t)got);
    }
    sockets_stream_note_taken(s);
    return got ? got : n;
}
