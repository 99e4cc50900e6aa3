/* SPDX-License-Identifier: BSD-3-Clause
 *
 * poll.c - poll and select with upgraded connections among the descriptors.
 *
 * The kernel polls every descriptor, which tells of TCP's data, bells and ends.  The rings are
 * looked at besides, for a while alone; and while the kernel sleeps the connections are armed.
 */
#include "poll/poll.h"
#include "epoll/epoll.h"
#include "real/real.h"
#include "record/pause.h"
#include "spin/core.h"
#include "spin/spin.h"
#include "stream/carrier.h"
#include "stream/round.h"
#include "table/table.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FEW = 64,            /* descriptors for which no memory is allocated */
    DOZERS = 16,         /* connections that wake without TCP */
    LOOKS_PER_CALL = 16, /* at the rings, while spinning, between two calls of the kernel */
    KERNEL_EVERY = 8, /* answers from rings alone, on average, for each from the kernel, too ... */
    KERNEL_SELDOM = 64, /* ... and of one connection that has data, of which the program knows */
    DATA = POLLIN | POLLRDNORM,
    SPACE = POLLOUT | POLLWRNORM,
    ENDS = POLLERR | POLLHUP | POLLRDHUP,
};

struct polled {
    struct pollfd *fds;
    nfds_t count;
    struct sockets_stream **stream; /* of each descriptor, or NULL; entered */
    const sigset_t *mask;
    bool any;   /* of them is upgraded ... */
    bool far;   /* ... and carried from another host */
    bool rings; /* ... or has rings to look at */
    bool alone; /* all are, share the machine with their peers, and are asked for nothing else */
};

/* By chance: a program that polls several things in turns could be in step with a counter. */
static bool is_kernels_turn(uint32_t every)
{
    static _Thread_local uint32_t chance __attribute__((tls_model("initial-exec")));

    chance = chance * 1664525 + 1013904223;
    return (chance >> 16) % every == 0;
}

static void enter(struct polled *p)
{
    p->any = p->far = p->rings = false;
    p->alone = true;
    for (nfds_t i = 0; i < p->count; i++) {
        p->stream[i] = sockets_table_enter(p->fds[i].fd);
        if (p->stream[i] && p->stream[i]->upgraded) {
            p->any = true;
            p->far |= p->stream[i]->carrier != NULL;
            p->rings |= !sockets_carrier_is_resting(p->stream[i]);
        }
        p->alone = p->alone && p->stream[i] && p->stream[i]->upgraded && !p->stream[i]->carrier &&
                   !(p->fds[i].events & ~(DATA | SPACE));
        sockets_epoll_make_cold(p->fds[i].fd);
    }
}

static void leave(struct polled *p)
{
    for (nfds_t i = 0; i < p->count; i++)
        if (p->stream[i])
            sockets_table_leave(p->stream[i]);
    if (p->count > FEW)
        free(p->stream);
}

static bool wants_data(const struct polled *p, nfds_t i)
{
    return p->stream[i] && p->stream[i]->upgraded && (p->fds[i].events & DATA);
}

static bool any(const struct polled *p, bool (*is_so)(const struct sockets_stream *))
{
    for (nfds_t i = 0; i < p->count; i++)
        if (wants_data(p, i) && is_so(p->stream[i]))
            return true;
    return false;
}

/* What the kernel says of a connection, whose carrier may be slower than TCP. */
static void merge_one(struct sockets_stream *s, struct pollfd *fd)
{
    const int certain = s->carrier ? POLLERR : ENDS; /* what is read by now */
    const bool data = sockets_stream_has_data(s);

    if (data) {
        fd->revents |= fd->events & DATA;
    } else if ((fd->revents & DATA) && !(fd->revents & certain)) {
        if (!sockets_stream_readable(s, fd->fd))
            fd->revents &= ~(DATA | ENDS);
        sockets_stream_note_taken(s);
    }
    if (fd->revents & (data ? ENDS : DATA | ENDS))
        sockets_stream_note_told(s);
}

/* Make what the kernel says of each descriptor what the program is told. */
static int merge(struct polled *p)
{
    int ready = 0;

    for (nfds_t i = 0; i < p->count; i++) {
        if (wants_data(p, i))
            merge_one(p->stream[i], &p->fds[i]);
        ready += p->fds[i].revents != 0;
    }
    return ready;
}

static int ask_kernel(struct polled *p, const struct timespec *timeout)
{
    const int n = sockets_real.ppoll(p->fds, p->count, timeout, p->mask);

    return n < 0 ? n : merge(p);
}

static const struct timespec at_once;

static void begin_spinning(struct sockets_spin *spinning, struct polled *p)
{
    sockets_spin_begin(spinning, p->far ? SOCKETS_SPIN_FAR : SOCKETS_SPIN_NEAR);
    for (nfds_t i = 0; spinning->limit_ns > 0 && i < p->count; i++)
        if (wants_data(p, i))
            sockets_carrier_spins(p->stream[i]);
}

/* What rings tell of one of those: 1, 0, or -1 if the kernel has to be asked. */
static int look_at(const struct polled *p, nfds_t i)
{
    const struct sockets_stream *s = p->stream[i];
    struct pollfd *fd = &p->fds[i];
    const bool data = (fd->events & DATA) && sockets_stream_has_data(s);

    fd->revents = 0;
    if ((fd->events & DATA) && !data && !sockets_stream_is_tcp_empty(s))
        return -1;
    if ((fd->events & SPACE) && !sockets_stream_has_space(s))
        return -1;
    fd->revents = (short)((data ? fd->events & DATA : 0) | (fd->events & SPACE));
    return fd->revents != 0;
}

/* As in a client that waits for answers to what it has sent: how many are ready, 0 if rings do not
 * tell, or -1 if it is the kernel's turn, which it is now and then, for the ends of peers that were
 * killed. */
static int answer_by_rings(const struct polled *p)
{
    bool seldom;
    int ready = 0;

    if (!p->alone)
        return 0;
    for (nfds_t i = 0; i < p->count; i++) {
        const int one = look_at(p, i);

        if (one < 0)
            return 0;
        ready += one;
    }
    seldom = p->count == 1 && (p->fds[0].revents & DATA);
    if (ready > 0 && is_kernels_turn(seldom ? KERNEL_SELDOM : KERNEL_EVERY))
        return -1;
    if (ready > 0 && p->count > 1)
        atomic_fetch_add_explicit(&sockets_counters->answers, 1, memory_order_relaxed);
    return ready;
}

static int answer(struct polled *p)
{
    const int ready = answer_by_rings(p);

    return ready > 0 ? ready : ask_kernel(p, &at_once);
}

/* Who waits for rings alone asks the kernel but now and then. */
static bool asks(const struct polled *p, const struct sockets_spin *spinning)
{
    return p->alone ? sockets_spin_asks(spinning) : spinning->turn % LOOKS_PER_CALL == 0;
}

/* Not beyond `end`; 0: there is none. */
static int spin(struct polled *p, uint64_t end)
{
    struct sockets_spin spinning;
    int n = 0;

    begin_spinning(&spinning, p);
    if (end > 0)
        sockets_spin_cut(&spinning, sockets_ns_until(end));
    while (n == 0 && sockets_spin_turn(&spinning)) {
        if (any(p, sockets_stream_hint))
            n = answer(p);
        else if (asks(p, &spinning))
            n = ask_kernel(p, &at_once);
        if (n > 0)
            sockets_spin_won(&spinning);
    }
    return n;
}

/* Which of the descriptors, in their order, are woken by their wakers (stream/doze.c), and what is
 * polled then: all of them, and the wakers. */
struct dozers {
    struct polled *polled;
    const struct timespec *timeout;
    int count;
    nfds_t at[DOZERS];
    struct pollfd fds[FEW + DOZERS];
};

static bool add_dozer(struct dozers *d, struct polled *p, nfds_t i)
{
    struct sockets_stream *s = p->stream[i];
    int fd;

    if (p->count > FEW || s->carrier || !sockets_record_is_sole(s->record) ||
        !sockets_stream_claim_waker(s, SOCKETS_WAKER_SEVERAL))
        return false;
    fd = sockets_stream_begin_use(s); /* if it is given up from here on, it hangs up */
    if (fd >= 0 && sockets_stream_begin_doze(s, false)) {
        d->fds[p->count + (nfds_t)d->count] = (struct pollfd){.fd = fd, .events = POLLIN};
        d->at[d->count++] = i;
        return true;
    }
    sockets_stream_end_use(s);
    sockets_stream_release_waker(s);
    return false;
}

/* At most so many are woken by their wakers; the others are armed. */
static void begin_sleep(struct dozers *d, struct polled *p, int most)
{
    d->polled = p;
    d->count = 0;
    for (nfds_t i = 0; i < p->count; i++)
        if (wants_data(p, i) && !(d->count < most && add_dozer(d, p, i))) {
            sockets_stream_arm(p->stream[i]);
            sockets_stream_answer(p->stream[i], p->fds[i].fd);
        }
    atomic_thread_fence(memory_order_seq_cst); /* senders look for us after they have published */
}

static void end_sleep(const struct dozers *d, struct polled *p)
{
    int k = 0;

    for (nfds_t i = 0; i < p->count; i++) {
        struct sockets_stream *s = p->stream[i];

        if (!wants_data(p, i))
            continue;
        if (k == d->count || d->at[k] != i) {
            sockets_stream_disarm(s);
            continue;
        }
        sockets_stream_end_doze(s, false);
        if (d->fds[p->count + (nfds_t)k++].revents != 0)
            sockets_stream_take_wake_ups(s);
        sockets_stream_end_use(s);
        sockets_stream_release_waker(s);
    }
}

/* What ask_kernel does, but for wakers, too. */
static int ask_with_wakers(struct dozers *d)
{
    struct polled *p = d->polled;
    int n;

    memcpy(d->fds, p->fds, p->count * sizeof(*p->fds));
    n = sockets_real.ppoll(d->fds, p->count + (nfds_t)d->count, d->timeout, p->mask);
    if (n < 0)
        return n;
    for (nfds_t i = 0; i < p->count; i++)
        p->fds[i].revents = d->fds[i].revents;
    return merge(p);
}

/* While it sleeps. */
static void cancelled(void *dozers)
{
    const struct dozers *d = dozers;

    end_sleep(d, d->polled);
    leave(d->polled);
}

static ssize_t sleep_for_any(void *dozers)
{
    struct dozers *d = dozers;

    return d->count > 0 ? ask_with_wakers(d) : ask_kernel(d->polled, d->timeout);
}

static int ask_asleep(struct dozers *d)
{
    int n;

    pthread_cleanup_push(cancelled, d);
    n = (int)sockets_core_sleep(sleep_for_any, d);
    pthread_cleanup_pop(0);
    return n;
}

static int sleep_with(struct polled *p, const struct timespec *timeout, int most)
{
    const uint64_t slept_at = sockets_now_ns();
    struct dozers d;
    int n, error;

    begin_sleep(&d, p, most);
    if (any(p, sockets_stream_has_data))
        timeout = &at_once;
    d.timeout = timeout;
    n = ask_asleep(&d);
    error = errno;
    for (nfds_t i = 0; timeout != &at_once && p->count <= FEW && i < p->count; i++)
        if (wants_data(p, i))
            sockets_stream_learn_wake(p->stream[i], slept_at);
    end_sleep(&d, p);
    errno = error;
    return n;
}

static int sleep_in_kernel(struct polled *p, const struct timespec *timeout)
{
    int n = sleep_with(p, timeout, DOZERS);

    if (n < 0 && errno == EINVAL) /* more than descriptors are allowed */
        n = sleep_with(p, timeout, 0);
    return n == 0 && any(p, sockets_stream_is_withheld_long) ? sockets_stream_nap(p->mask) : n;
}

/* Before anybody waits.  Who has rings alone, and nothing there, begins to spin. */
static int look(struct polled *p, bool only_looks)
{
    const int ready = !only_looks || p->count == 1 ? answer_by_rings(p) : 0;

    if (ready > 0 ||
        (ready == 0 && !only_looks && (!p->rings || (p->alone && !any(p, sockets_stream_hint)))))
        return ready;
    return ask_kernel(p, &at_once);
}

static int poll_streams(struct polled *p, const struct timespec *timeout)
{
    const bool limited = timeout != NULL;
    const bool only_looks = limited && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
    const uint64_t end = limited ? sockets_now_ns() + (uint64_t)timeout->tv_sec * 1000000000 +
                                       (uint64_t)timeout->tv_nsec
                                 : 0;
    int n;

    n = look(p, only_looks);
    if (n != 0 || only_looks)
        return n;
    for (;;) {
        struct timespec left = at_once;

        if (p->rings && (n = spin(p, end)) != 0)
            return n;
        if (limited) {
            const uint64_t ns = sockets_ns_until(end);
            left = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
        }
        n = sleep_in_kernel(p, limited ? &left : NULL);
        if (n != 0 || (limited && sockets_now_ns() >= end))
            return n;
    }
}

int sockets_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                  const sigset_t *mask)
{
    struct sockets_stream *few[FEW];
    struct polled p = {.fds = fds, .count = count, .stream = few, .mask = mask};
    int n, error;

    if (timeout && (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= 1000000000))
        return sockets_real.ppoll(fds, count, timeout, mask);
    if (count > FEW && (count > SOCKETS_TABLE_FDS || !(p.stream = malloc(count * sizeof(*few)))))
        return sockets_real.ppoll(fds, count, timeout, mask);
    sockets_round_end();
    enter(&p);
    n = p.any ? poll_streams(&p, timeout) : sockets_real.ppoll(fds, count, timeout, mask);
    error = errno;
    if (n > 1 && p.far)
        sockets_round_begin(n);
    leave(&p);
    errno = error;
    return n;
}

/* ---- select ----------------------------------------------------------------------- */

static bool has(const fd_set *set, int fd)
{
    return set && FD_ISSET(fd, set);
}

static bool any_upgraded(int count, const fd_set *readable, const fd_set *writable)
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0 && fd < count;) {
        struct sockets_stream *s;
        bool upgraded;

        if (!has(readable, fd) && !has(writable, fd))
            continue;
        if (!(s = sockets_table_enter(fd)))
            continue;
        upgraded = s->upgraded;
        sockets_table_leave(s);
        if (upgraded)
            return true;
    }
    return false;
}

/* What select calls readable, writable and urgent, in the words of poll. */
enum {
    READABLE = POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR,
    WRITABLE = POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR,
};

static int tell(const struct pollfd *fds, nfds_t count, fd_set *readable, fd_set *writable,
                fd_set *urgent)
{
    int n = 0;

    for (nfds_t i = 0; i < count; i++)
        if (fds[i].revents & POLLNVAL) {
            errno = EBADF;
            return -1;
        }
    for (nfds_t i = 0; i < count; i++) {
        const struct pollfd *p = &fds[i];
        const bool r = (p->events & POLLIN) && (p->revents & READABLE);
        const bool w = (p->events & POLLOUT) && (p->revents & WRITABLE);
        const bool u = (p->events & POLLPRI) && (p->revents & POLLPRI);

        if (!r && readable)
            FD_CLR(p->fd, readable);
        if (!w && writable)
            FD_CLR(p->fd, writable);
        if (!u && urgent)
            FD_CLR(p->fd, urgent);
        n += r + w + u;
    }
    return n;
}

int sockets_pselect(int count, fd_set *readable, fd_set *writable, fd_set *urgent,
                    const struct timespec *timeout, const sigset_t *mask)
{
    struct pollfd fds[FD_SETSIZE];
    nfds_t n = 0;

    for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
        const short events =
            (short)((has(readable, fd) ? POLLIN : 0) | (has(writable, fd) ? POLLOUT : 0) |
                    (has(urgent, fd) ? POLLPRI : 0));

        if (!events)
            continue;
        fds[n++] = (struct pollfd){.fd = fd, .events = events};
        sockets_epoll_make_cold(fd);
    }
    /* The kernel's own select, with the streams entered so that none is upgraded meanwhile. */
    if (count > FD_SETSIZE || count < 0 || !any_upgraded(count, readable, writable)) {
        struct sockets_stream *entered[FD_SETSIZE];
        int result, error;

        for (nfds_t i = 0; i < n; i++)
            entered[i] = sockets_table_enter(fds[i].fd);
        result = sockets_real.pselect(count, readable, writable, urgent, timeout, mask);
        error = errno;
        for (nfds_t i = 0; i < n; i++)
            if (entered[i])
                sockets_table_leave(entered[i]);
        errno = error;
        return result;
    }
    return sockets_ppoll(fds, n, timeout, mask) < 0 ? -1 : tell(fds, n, readable, writable, urgent);
}
