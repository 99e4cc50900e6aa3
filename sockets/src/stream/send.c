/* SPDX-License-Identifier: BSD-3-Clause
 *
 * send.c - the sending end of a stream.
 */
#include "real/real.h"
#include "record/pause.h"
#include "spin/spin.h"
#include "stream/internal.h"
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>

enum {
    WAKES_BY_DATA = 16 << 10,  /* data up to this go by TCP to a receiver that sleeps */
    LOOK_NS = 200000,          /* how often a sender asks whether a peer that reads nothing lives */
    LOOK_READING_NS = 1000000, /* the same of one that has read since it last asked */
    SPACE_NS = 2000000,     /* how long a blocking sender waits for space before it turns to TCP */
    SPACE_BRIEF_NS = 50000, /* and one that must not block */
    CARRIED_MOST = 1280,    /* bytes of a call that are brought by a carrier, in one packet */
    PIECES = 16,            /* of a message that goes by TCP in part */
};

/* For tests: of so many sends one leaves the ring, whatever it is. */
static uint32_t leave_every;
static _Atomic uint32_t leave_state = 1;

void sockets_stream_init(void)
{
    const char *text = getenv("UNETSOCK_DOWNGRADE");

    leave_every = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static bool leaves_by_chance(void)
{
    const uint32_t state = atomic_load(&leave_state) * 1664525 + 1013904223;

    atomic_store(&leave_state, state);
    return (state >> 16) % leave_every == 0;
}

/* ---- phases ----------------------------------------------------------------------- */

/* The wake-up has left by TCP; one that might be held back does not count. */
static void note_woken(const struct sockets_stream *s, uint64_t sleeper)
{
    if (sleeper != 0 && atomic_load_explicit(&s->nodelay, memory_order_relaxed))
        sockets_stream_note_woken(sleeper);
}

bool sockets_stream_enter_ring(struct sockets_stream *s, int fd)
{
    struct sockets_record *record = s->record;
    uint32_t open = SOCKETS_GATE_OPEN;
    bool quiet;

    if (!sockets_stream_is_quiet(s) ||
        !atomic_compare_exchange_strong(&s->tx->gate, &open, SOCKETS_GATE_SENDER))
        return false;
    quiet = sockets_stream_is_quiet(s) && !atomic_load(&s->tx->recall) &&
            !(s->carrier && (atomic_load(&s->carrier->rests) || !atomic_load(&s->carrier->looks)));
    if (quiet)
        atomic_store(&s->tx->phase, ++record->tx.phase);
    atomic_store_explicit(&s->tx->gate, SOCKETS_GATE_OPEN, memory_order_release);
    if (quiet && !atomic_load_explicit(&s->record->prompt, memory_order_relaxed))
        sockets_stream_send_at_once(s, fd);
    return quiet;
}

void sockets_stream_leave_ring(struct sockets_stream *s)
{
    if (!sockets_phase_is_ring(s->record->tx.phase))
        return;
    sockets_stream_put_off_quiet(s);
    sockets_stream_next_phase(s);
    sockets_carrier_publish(s);
}

/* A peer that was killed cannot say so, and does not read. */
static bool peer_has_ended(struct sockets_stream *s, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    const ssize_t unsent = sockets_ring_unsent(s->tx, &s->record->tx.ring);
    const uint64_t head = s->record->tx.ring.tail - (uint64_t)unsent;
    uint64_t now, after;

    if (atomic_load_explicit(&s->tx->gone, memory_order_relaxed) ||
        atomic_load_explicit(&s->rx->fin, memory_order_relaxed) ||
        atomic_load_explicit(&s->record->rx.eof, memory_order_relaxed))
        return true;
    if (unsent == 0)
        return false;
    now = sockets_now_ns();
    after = head == s->record->tx.looked_head ? LOOK_NS : LOOK_READING_NS;
    if (now - s->record->tx.looked_ns < after)
        return false;
    s->record->tx.looked_ns = now;
    s->record->tx.looked_head = head;
    return sockets_real.poll(&p, 1, 0) > 0;
}

/* Whatever the kernel has to judge, or to do. */
static bool needs_kernel(struct sockets_stream *s, int fd, int flags)
{
    return flags & (MSG_OOB | MSG_ZEROCOPY | MSG_FASTOPEN) ||
           atomic_load_explicit(&s->record->pinned, memory_order_relaxed) ||
           atomic_load_explicit(&s->record->tx.shut, memory_order_relaxed) ||
           atomic_load_explicit(&s->tx->want_tcp, memory_order_relaxed) || peer_has_ended(s, fd);
}

/* Data was published; so either the receiver sees it before it sleeps, or we see that it sleeps.
 * The same holds for one that reads the ring no more. */
static void wake_receiver(struct sockets_stream *s, int fd)
{
    sockets_carrier_publish(s);
    sockets_stream_rouse(s);
    if (sockets_stream_receiver_sleeps(s))
        sockets_stream_ring_bell(s, fd);
    if (__builtin_expect(atomic_load_explicit(&s->tx->recall, memory_order_relaxed), 0))
        sockets_stream_leave_ring(s);
    if (__builtin_expect(sockets_stream_owes(s), 0))
        sockets_stream_repay(s, fd);
}

/* What TCP does as well as a carrier, or better. */
static bool is_bulk(struct sockets_stream *s, size_t total)
{
    s->record->tx.streak += total;
    return total > CARRIED_MOST || s->record->tx.streak > SOCKETS_STREAK;
}

/* Which way the next bytes go; under the lock.  True: into the ring. */
static bool choose_ring(struct sockets_stream *s, int fd, size_t total, int flags)
{
    struct sockets_record *record = s->record;
    const bool bulk = s->carrier && (is_bulk(s, total) || sockets_carrier_is_resting(s));

    if (bulk && !sockets_phase_is_ring(record->tx.phase))
        return false; /* what the carrier brings is for others to look at */
    sockets_carrier_glance(s);
    if (bulk || needs_kernel(s, fd, flags) ||
        (__builtin_expect(leave_every != 0, 0) && leaves_by_chance()))
        return false;
    if (sockets_stream_receiver_sleeps(s) && total <= WAKES_BY_DATA) {
        if (!sockets_phase_is_ring(record->tx.phase))
            return false;
        if (sockets_ring_unsent(s->tx, &record->tx.ring) == 0)
            return false;
    }
    return sockets_phase_is_ring(record->tx.phase) || sockets_stream_enter_ring(s, fd);
}

/* ---- by TCP ----------------------------------------------------------------------- */

/* The rest of the buffers, PIECES of them at most. */
static size_t pieces_of(const struct sockets_cursor *cursor, struct iovec *piece)
{
    size_t n = 0;

    for (; n < PIECES && n < cursor->count; n++)
        piece[n] = cursor->iov[n];
    if (n > 0) {
        piece[0].iov_base = (char *)piece[0].iov_base + cursor->offset;
        piece[0].iov_len -= cursor->offset;
    }
    return n;
}

/* Under the lock.  From now on nobody enters the ring. */
static void enter_tcp(struct sockets_stream *s)
{
    s->record->tx.inflight++;
}

/* Under the lock, which is given up. */
static void leave_tcp(struct sockets_stream *s)
{
    s->record->tx.inflight--;
    atomic_store(&s->tx->sending, s->record->tx.inflight); /* after what was sent */
    sockets_lock_give(&s->record->tx.lock);
}

/* Under the lock, which is given up while the kernel may block. */
static void begin_tcp(struct sockets_stream *s)
{
    sockets_stream_stamp(s, 1); /* this one */
    atomic_store(&s->tx->sending, s->record->tx.inflight);
    if (atomic_load_explicit(&s->tx->armed, memory_order_relaxed) != 0)
        sockets_stream_stamp_wake(s);
    sockets_stream_rouse(s);
    sockets_lock_give(&s->record->tx.lock);
}

static void end_tcp(struct sockets_stream *s, ssize_t n)
{
    sockets_stream_note_kernel(
        !atomic_load(&s->tx->ordered)); /* the peer may not be upgraded yet */
    sockets_stream_lock_writer(s);
    if (n <= 0)
        return;
    sockets_stream_count_sent(s, (size_t)n);
    atomic_fetch_add_explicit(&sockets_counters->tcp_bytes, (uint64_t)n, memory_order_relaxed);
}

/* Under the lock, which is given up while TCP takes nothing.  0 or -errno. */
static int repay(struct sockets_stream *s, int fd, bool block)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int error;

    while ((error = sockets_stream_repay(s, fd)) == -EAGAIN && block) {
        sockets_lock_give(&s->record->tx.lock);
        error = sockets_stream_sleep_poll(s, &p, 1) < 0 ? -errno : 0;
        sockets_stream_lock_writer(s);
        sockets_carrier_look(s);
        if (error < 0)
            return error;
    }
    return error;
}

/* Under the lock, before bytes go by TCP: the ring is left when they may, as a receiver that falls
 * asleep meanwhile is woken by a bell as long as the ring is not left, and then by these bytes. */
static int prepare_tcp(struct sockets_stream *s, int fd, bool block)
{
    const int error = s->carrier ? sockets_stream_settle(s, fd, block) : 0;

    if (error < 0)
        return error;
    sockets_stream_leave_ring(s);
    if (atomic_load(&s->rx->phase) != 0 &&
        !atomic_load_explicit(&s->record->prompt, memory_order_relaxed))
        sockets_stream_send_at_once(s, fd);
    return sockets_stream_owes(s) ? repay(s, fd, block) : 0;
}

/* Under the lock.  Returns what this call has sent in all, or -errno. */
static ssize_t send_pieces(struct sockets_stream *s, int fd, const struct msghdr *whole,
                           struct sockets_cursor *cursor, int flags, size_t done)
{
    const bool block = !(flags & MSG_DONTWAIT) && !atomic_load(&s->record->nonblocking);
    const int error = prepare_tcp(s, fd, block);
    struct iovec piece[PIECES];
    struct msghdr msg = *whole;

    if (error < 0)
        return done ? (ssize_t)done : error;
    for (;;) {
        const size_t n = pieces_of(cursor, piece);
        const struct sockets_cursor offered = {piece, n, 0};
        const uint64_t sleeper = sockets_stream_shared_sleeper(s);
        ssize_t sent;

        msg.msg_iov = piece;
        msg.msg_iovlen = n;
        begin_tcp(s);
        sent = sockets_stream_sleep_sendmsg(s, fd, &msg, flags);
        sent = sent < 0 ? -errno : sent;
        end_tcp(s, sent);
        if (sent > 0 && !(flags & (MSG_OOB | MSG_MORE)))
            note_woken(s, sleeper);
        if (sent < 0)
            return done ? (ssize_t)done : sent;
        done += (size_t)sent;
        if ((size_t)sent < sockets_cursor_left(&offered) || n == cursor->count || sent == 0)
            return (ssize_t)done;
        sockets_cursor_advance(cursor, (size_t)sent);
    }
}

/* The same, which gives up the lock. */
static ssize_t send_by_tcp(struct sockets_stream *s, int fd, const struct msghdr *whole,
                           struct sockets_cursor *cursor, int flags, size_t done)
{
    ssize_t n;

    enter_tcp(s);
    n = send_pieces(s, fd, whole, cursor, flags, done);
    leave_tcp(s);
    return n;
}

/* ---- by the ring ------------------------------------------------------------------ */

/* Gives up the lock and takes it again.  False: there is none, and TCP may do better. */
static bool wait_for_space(struct sockets_stream *s, int fd, bool block)
{
    struct sockets_record *record = s->record;
    const uint64_t head = atomic_load_explicit(&s->tx->head, memory_order_relaxed);
    const uint64_t until = sockets_now_ns() + (block ? SPACE_NS : SPACE_BRIEF_NS);
    bool moved, busy = false;

    wake_receiver(s, fd);
    if ((sockets_stream_receiver_sleeps(s) && !block) || s->carrier)
        return false;
    sockets_lock_give(&record->tx.lock);
    for (uint32_t turn = 1;
         !(moved = atomic_load_explicit(&s->tx->head, memory_order_relaxed) != head) && !busy &&
         !atomic_load_explicit(&s->tx->gone, memory_order_relaxed);
         turn++) {
        sockets_pause();
        if (turn % 32 == 0 && sockets_now_ns() >= until)
            break;
        busy = turn % 64 == 0 && !sockets_spin_yield();
    }
    sockets_stream_lock_writer(s);
    if (busy) /* the kernel wakes who waits for TCP before others had their time */
        sockets_stream_put_off_quiet_long(s);
    return moved && sockets_phase_is_ring(record->tx.phase);
}

ssize_t sockets_stream_send(struct sockets_stream *s, int fd, const struct msghdr *msg, int flags)
{
    struct sockets_record *record = s->record;
    const bool block = !(flags & MSG_DONTWAIT) && !atomic_load(&record->nonblocking);
    struct sockets_cursor cursor = {msg->msg_iov, msg->msg_iovlen, 0};
    const size_t total = sockets_cursor_left(&cursor);
    size_t done = 0;

    if (total == 0 && s->carrier) { /* TCP gets nothing that would follow the ring's data */
        const ssize_t n = sockets_real.sendmsg(fd, msg, flags);

        return n < 0 ? -errno : n;
    }
    if (!sockets_stream_lock_writer(s))
        return -EINTR;
    sockets_stream_set_streak(s, 0);
    if (flags & MSG_OOB)
        sockets_stream_pin(s);
    if (block)
        sockets_stream_wait_for_quiet(s, fd);
    if (total == 0 || msg->msg_controllen > 0 || !choose_ring(s, fd, total, flags))
        return send_by_tcp(s, fd, msg, &cursor, flags, 0);
    sockets_stream_stamp(s, 0);
    for (;;) {
        const uint32_t log = record->tx.ring.log;
        const ssize_t n = sockets_ring_write(s->tx, &record->tx.ring, s->tx_data, &cursor,
                                             sockets_stream_log_max(s));

        sockets_stream_account_growth(log, record->tx.ring.log);
        if (n < 0) {
            sockets_lock_give(&record->tx.lock);
            return done ? (ssize_t)done : sockets_stream_break(s, fd);
        }
        done += (size_t)n;
        atomic_fetch_add_explicit(&sockets_counters->ring_bytes, (uint64_t)n, memory_order_relaxed);
        if (done == total || (!block && done > 0))
            break;
        if (!wait_for_space(s, fd, block) || needs_kernel(s, fd, flags))
            return send_by_tcp(s, fd, msg, &cursor, flags, done);
    }
    wake_receiver(s, fd);
    sockets_lock_give(&record->tx.lock);
    return (ssize_t)done;
}

/* ---- files ------------------------------------------------------------------------ */

/* How to read a file with the lock, for which others wait: what the kernel has at hand, which of
 * those that lie in memory, or in another file system, is all.  -1: not at all.  What is sent of
 * pipes, devices and the like is the kernel's to judge; and what is made as it is read, which has
 * no size, may take as long as it likes. */
static int read_flags(int in)
{
    struct stat st;
    struct statfs fs;

    if (fstat(in, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return -1;
    if (major(st.st_dev) == 0 && fstatfs(in, &fs) == 0 &&
        (fs.f_type == TMPFS_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC))
        return 0;
    return RWF_NOWAIT;
}

/* Read the file into the ring.  Returns the bytes, or -errno; -EAGAIN: the ring is full, -ENODATA:
 * nothing is at hand, -EOPNOTSUPP: its file system does not tell. */
static ssize_t fill_from_file(struct sockets_stream *s, int in, off_t *offset, size_t count,
                              int flags)
{
    struct sockets_record *record = s->record;
    const uint32_t log = record->tx.ring.log;
    char *piece;
    ssize_t n = sockets_ring_reserve(s->tx, &record->tx.ring, s->tx_data, sockets_stream_log_max(s),
                                     &piece);

    sockets_stream_account_growth(log, record->tx.ring.log);
    if (n <= 0)
        return n < 0 ? n : -EAGAIN;
    n = preadv2(in, &(struct iovec){piece, (size_t)n < count ? (size_t)n : count}, 1,
                offset ? *offset : -1, flags);
    if (n < 0)
        return errno == EAGAIN ? -ENODATA : -errno;
    sockets_ring_commit(s->tx, &record->tx.ring, (size_t)n);
    if (offset)
        *offset += n;
    return n;
}

static ssize_t sendfile_by_tcp(struct sockets_stream *s, int fd, int in, off_t *offset,
                               size_t count, size_t done)
{
    ssize_t n;

    enter_tcp(s);
    n = prepare_tcp(s, fd, !atomic_load(&s->record->nonblocking));
    if (n == 0) {
        begin_tcp(s);
        n = sockets_real.sendfile(fd, in, offset, count - done);
        n = n < 0 ? -errno : n;
        end_tcp(s, n);
    }
    leave_tcp(s);
    return n < 0 && done == 0 ? n : (n > 0 ? n : 0) + (ssize_t)done;
}

ssize_t sockets_stream_sendfile(struct sockets_stream *s, int fd, int in, off_t *offset,
                                size_t count)
{
    struct sockets_record *record = s->record;
    const bool block = !atomic_load(&record->nonblocking);
    int flags = offset ? RWF_NOWAIT : read_flags(in); /* without a place in it, it may be a pipe */
    size_t done = 0;

    if (count == 0 && s->carrier) { /* as a send of nothing */
        const ssize_t n = sockets_real.sendfile(fd, in, offset, 0);

        return n < 0 ? -errno : n;
    }
    if (!sockets_stream_lock_writer(s))
        return -EINTR;
    if (flags < 0 || count == 0 || !choose_ring(s, fd, count, 0))
        return sendfile_by_tcp(s, fd, in, offset, count, 0);
    sockets_stream_stamp(s, 0);
    while (done < count) {
        const ssize_t n = fill_from_file(s, in, offset, count - done, flags);

        if (n > 0) {
            done += (size_t)n;
            continue;
        }
        if (n == -EOPNOTSUPP && flags != 0 && (flags = read_flags(in)) == 0)
            continue;
        /* The end of the file, or what sendfile itself shall say of it. */
        if (n == 0 || n == -EPROTO)
            break;
        if (n != -EAGAIN && n != -ENODATA && n != -EOPNOTSUPP && done > 0)
            break;
        if (n == -EAGAIN && !block && done > 0)
            break;
        if (n != -EAGAIN && done > 0)
            wake_receiver(s, fd); /* before the kernel waits for the file */
        if (n != -EAGAIN || !wait_for_space(s, fd, block) || needs_kernel(s, fd, 0))
            return sendfile_by_tcp(s, fd, in, offset, count, done);
    }
    atomic_fetch_add_explicit(&sockets_counters->ring_bytes, done, memory_order_relaxed);
    if (done > 0)
        wake_receiver(s, fd);
    sockets_lock_give(&record->tx.lock);
    return (ssize_t)done;
}

/* TCP has space if the receiver has taken all that it was given. */
static bool tcp_has_space(const struct sockets_stream *s)
{
    return !s->carrier && atomic_load(&s->tx->sending) == 0 &&
           atomic_load(&s->tx->taken) == atomic_load(&s->tx->sent);
}

bool sockets_stream_has_space(const struct sockets_stream *s)
{
    const ssize_t unsent = sockets_ring_unsent(s->tx, &s->record->tx.ring);

    if (!sockets_phase_is_ring(atomic_load_explicit(&s->tx->phase, memory_order_relaxed)))
        return tcp_has_space(s);
    return unsent >= 0 && unsent < (ssize_t)1 << (s->record->tx.ring.log - 1);
}
