/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.c - waiting for an epoll set: rings first, and the kernel.
 */
#include "epoll/internal.h"
#include "real/real.h"
#include "record/pause.h"
#include "spin/core.h"
#include "spin/spin.h"
#include "stream/carrier.h"
#include "stream/round.h"
#include <errno.h>

enum {
    IDLE = 16,           /* sleeps without data after which one is hot no longer ... */
    IDLE_EACH = 4,       /* ... and so many more for each that is hot */
    KERNEL_EVERY = 8,    /* turns with events from rings until the kernel is asked, too */
    TURNS = 4,           /* of asking the kernel again, while rings have more and more ... */
    AT_ONCE_TURNS = 16,  /* ... and where all that it tells are bells, and nobody waits */
    ROOM = 64,           /* events that the kernel is asked for at least */
    LOOKS_PER_CALL = 16, /* at the rings, while spinning, between two calls of the kernel ... */
    FAR_LOOKS = 4,       /* ... and where a look may be a system call itself */
};

/* An event of the kernel's for an upgraded connection: what is left of it for the program, and what
 * its ring adds.  Arrivals count as seen only if the program is told of data: those that come after
 * a bell was found to be nothing else, or together with space alone, are still to be told. */
static uint32_t without_bells(struct sockets_entry *entry, int epfd, uint32_t found)
{
    const uint32_t data = EPOLLIN | EPOLLRDNORM, ends = EPOLLERR | EPOLLHUP | EPOLLRDHUP;
    const uint32_t certain = entry->s->carrier ? EPOLLERR : ends; /* what is read by now */

    sockets_stream_answer(entry->s, entry->via);
    if ((found & data) && !(found & certain) && !sockets_entry_is_readable(entry))
        found &= ~(data | ends);
    if (found & (data | ends))
        sockets_stream_note_told(entry->s);
    if (sockets_entry_has_data(entry))
        found |= entry->events & data;
    if (found & data) {
        entry->seen = sockets_stream_arrived(entry->s);
        if ((entry->events & EPOLLET) && !(found & ends) &&
            sockets_stream_may_hear_of_bell(entry->s))
            entry->withheld--; /* once more, if nobody has taken it */
    }
    sockets_entry_make_hot(entry);
    if (!entry->hot && (entry->events & EPOLLET))
        sockets_stream_expect_bell(entry->s, entry->via);
    if (!(entry->events & EPOLLONESHOT))
        sockets_epoll_rouse(entry->set, epfd, entry);
    return found;
}

/* The same, of which the rest is told again if need be. */
static uint32_t what_is_left(struct sockets_entry *entry, int epfd, uint32_t found)
{
    const uint32_t left = without_bells(entry, epfd, found);
    const bool in_vain = entry->events & EPOLLONESHOT ? !left : found & ~left;

    if (in_vain && (entry->events & (EPOLLET | EPOLLONESHOT)))
        sockets_entry_told_in_vain(entry, epfd);
    return left;
}

/* Whether an event of another file is among those that were kept. */
static bool is_kept(const struct epoll_event *events, int kept, const struct epoll_event *event)
{
    for (int i = 0; i < kept; i++)
        if (events[i].data.u64 == event->data.u64)
            return true;
    return false;
}

/* The same for a connection of ours, which gets what the kernel tells of it now. */
static bool is_kept_with(struct epoll_event *events, int kept, const struct epoll_event *event)
{
    for (int i = 0; i < kept; i++)
        if (events[i].data.u64 == event->data.u64) {
            events[i].events |= event->events;
            return true;
        }
    return false;
}

/* Of `n` more events of the kernel's, behind those that were `kept` before, keep those that the
 * program is told.  Returns how many there are then. */
static int keep_events(struct sockets_epoll *set, int epfd, struct epoll_event *events, int kept,
                       int n)
{
    const int before = kept;

    for (int i = before; i < before + n; i++) {
        struct epoll_event event = events[i];
        struct sockets_entry *entry = sockets_entry_of(event.data.u64);
        struct sockets_entry *of_waker = entry ? NULL : sockets_entry_of_waker(event.data.u64);

        if (of_waker)
            sockets_entry_take_wake_ups(set, epfd, of_waker);
        if (of_waker || (!entry && is_kept(events, before, &event)))
            continue;
        if (entry) {
            if (entry->set != set || entry->told || entry->removed)
                continue;
            event.events &= entry->events | EPOLLERR | EPOLLHUP; /* it may have been changed */
            if (entry->s->upgraded)
                event.events = what_is_left(entry, epfd, event.events);
            if (!event.events || (entry->scan == set->scan && is_kept_with(events, before, &event)))
                continue;
            entry->scan = set->scan;
        }
        events[kept++] = event;
    }
    return kept;
}

/* Kernels before 5.11 and emulators do not know the call, and filters of system calls refuse it. */
static _Atomic bool lacks_pwait2;

static int wait_in_kernel(int epfd, struct epoll_event *events, int max,
                          const struct timespec *timeout, const sigset_t *mask)
{
    if (timeout && timeout->tv_nsec % 1000000 != 0 && sockets_real.epoll_pwait2 &&
        !atomic_load_explicit(&lacks_pwait2, memory_order_relaxed)) {
        const int n = sockets_real.epoll_pwait2(epfd, events, max, timeout, mask);
        if (n >= 0 || (errno != ENOSYS && errno != EPERM))
            return n;
        atomic_store_explicit(&lacks_pwait2, true, memory_order_relaxed);
    }
    return sockets_real.epoll_pwait(
        epfd, events, max,
        timeout ? (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000) : -1, mask);
}

/* One that was idle for long is left armed, and no longer looked at, unless its sender counts on
 * our looking (together.c).  Edges of data that follows unread data need a bell each time: see
 * begin_sleep. */
static bool cools(struct sockets_entry *entry, int epfd)
{
    if (entry->idle < IDLE + IDLE_EACH * entry->set->hot_count ||
        sockets_entry_is_withheld(entry)) {
        entry->idle++;
        return false;
    }
    sockets_entry_arm(entry);
    sockets_entry_leave_together(entry);
    if (sockets_stream_has_data(entry->s))
        return false;
    sockets_entry_remove_waker(entry, epfd); /* a read that blocks may want it */
    return true;
}

/* With the set's lock. */
static void end_sleep(struct sockets_epoll *set, int epfd)
{
    set->sleepers--;
    sockets_epoll_part(set);
    if (set->cold)
        sockets_epoll_settle(set);
    for (uint32_t i = 0; !set->cold && i < set->hot_count;) {
        sockets_entry_wake(set->hot[i]);
        if (cools(set->hot[i], epfd)) {
            sockets_epoll_cool(set, i);
            continue;
        }
        if (set->sleepers == 0)
            sockets_entry_disarm(set->hot[i]);
        i++;
    }
}

static const struct timespec at_once;

/* Where the kernel's events come to: what is ready by level and left out would be the last of its
 * list, so all of that is asked for, even if the program wants less. */
struct kernels {
    struct epoll_event *events;
    int room;
    bool is_own;
    struct epoll_event own[ROOM];
};

/* With the set's lock.  Room of its own is for what the kernel tells of again: a first edge waits
 * until nobody has such (control.c). */
static void make_room(struct kernels *kernels, struct sockets_epoll *set,
                      struct epoll_event *events, int max)
{
    kernels->is_own = max < ROOM && !set->edges;
    kernels->events = kernels->is_own ? kernels->own : events;
    kernels->room = kernels->is_own ? ROOM : max;
    set->roomy += kernels->is_own;
}

/* With the set's lock: the kernel has told. */
static void leave_room(const struct kernels *kernels, struct sockets_epoll *set)
{
    set->roomy -= kernels->is_own;
}

/* All that happened before a time is among what the kernel has told of. */
static void know_kernel(struct sockets_epoll *set, uint64_t at)
{
    if (set->asked_at < at)
        set->asked_at = at;
}

/* Ask the kernel once more, behind `n` events that were kept; it tells again of what is by level.
 * That of other files is told apart by their data, so none of them may be by edges. */
static int ask_again(struct sockets_epoll *set, int epfd, struct epoll_event *events, int n,
                     int max)
{
    int more;

    sockets_defer_no_more(set, epfd); /* another thread's, while this one was in the kernel */
    know_kernel(set, sockets_now_ns());
    more = max > n ? wait_in_kernel(epfd, events + n, max - n, &at_once, NULL) : 0;
    sockets_order_begin(set);
    for (int i = 0; i < n; i++) {
        struct sockets_entry *entry = sockets_entry_of(events[i].data.u64);

        if (entry)
            entry->scan = set->scan;
    }
    return keep_events(set, epfd, events, n, more);
}

/* What a cold set owed and is told of but once is owed no longer: who asks the kernel sees so. */
static void settle_told(struct sockets_epoll *set)
{
    if (set->cold && set->edges && set->hot_count > 0)
        sockets_epoll_settle(set);
}

/* Add to `n` events of the kernel's, which were kept, what rings have, in its order.  What came to
 * a ring since the kernel was asked may follow something that it has not told of: it is asked again
 * or, where that may tell twice, is taken to have told of all.  Returns how many the program is
 * told of. */
static int add_rings(struct sockets_epoll *set, int epfd, struct kernels *k, int n,
                     struct epoll_event *events, int max)
{
    uint64_t kernels, known, latest;
    bool last;

    for (int turn = 0;; turn++) {
        kernels = sockets_order_kernels_latest(k->events, n);
        last = (set->edges && n > 0) || turn == TURNS; /* a peer may say that it is ever later */
        known = last ? UINT64_MAX : 0;
        sockets_order_look(set, UINT64_MAX, known);
        if (!set->late || last)
            break;
        n = ask_again(set, epfd, k->events, n, k->room);
    }
    latest = sockets_order_latest(set);
    if (set->hot_count > 1)
        sockets_order_look(set, latest > kernels ? latest : kernels, known);
    n = sockets_order_tell(set, k->events, n, events, max);
    settle_told(set);
    return n;
}

/* The kernel, asked at a time, has told of `n` events. */
static int tell(struct sockets_epoll *set, int epfd, struct kernels *k, int n,
                struct epoll_event *events, int max, uint64_t asked)
{
    set->asked_before = set->asked_at;
    know_kernel(set, asked);
    sockets_order_begin(set);
    n = keep_events(set, epfd, k->events, 0, n);
    n = sockets_epoll_add_withheld(set, k->events, n, k->room);
    set->listed = n > 0;
    n = add_rings(set, epfd, k, n, events, max);
    if (n > 0)
        set->by_kernel = set->found_count == 0;
    return n;
}

/* Whether the set has connections that are carried from other hosts. */
static bool is_far(const struct sockets_epoll *set)
{
    return set->hot_count > 0 && set->hot[0]->s->carrier;
}

/* Rings first, and the kernel if asked for, now and then, or if the rings say so.  Returns events,
 * 0, or -1 and errno; *bells: some events of the kernel's were of no interest. */
static int look(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                const sigset_t *mask, bool kernel, bool *bells)
{
    struct kernels k;
    uint64_t now;
    int n = 0, error;

    sockets_epoll_lock(set);
    if (set->cold)
        sockets_epoll_settle(set);
    sockets_epoll_ask_for_withheld(set, epfd);
    set->asked_before = set->asked_at;
    sockets_order_begin(set);
    sockets_order_look(set, UINT64_MAX, 0);
    atomic_store_explicit(&set->far, is_far(set), memory_order_relaxed);
    /* Where what came last came by TCP from another host, so may what comes next, and a look at
     * links is no cheaper than the kernel. */
    kernel |= set->blind || set->unsure || set->listed || set->left_count > 0 ||
              (set->by_kernel && set->far) ||
              (set->found_count > 0 && ++set->turn % KERNEL_EVERY == 0);
    if (set->found_count > 0)
        set->by_kernel = false;
    if (!kernel && set->found_count > 0) {
        if (set->hot_count > 1)
            sockets_order_look(set, sockets_order_latest(set), 0);
        n = sockets_order_tell(set, NULL, 0, events, max);
        settle_told(set);
    }
    if (kernel) {
        make_room(&k, set, events, max);
        sockets_defer_no_more(set, epfd);
    }
    sockets_epoll_unlock(set);
    if (!kernel)
        return n;
    now = sockets_now_ns();
    n = wait_in_kernel(epfd, k.events, k.room, &at_once, mask);
    error = errno;
    *bells = n > 0;
    sockets_epoll_lock(set);
    leave_room(&k, set);
    if (n >= 0)
        n = tell(set, epfd, &k, n, events, max, now);
    sockets_epoll_unlock(set);
    errno = error;
    return n;
}

/* Whether any connection is carried from another host. */
static bool begin_spinning(struct sockets_spin *spinning, struct sockets_epoll *set)
{
    bool far = false;

    sockets_epoll_lock(set);
    for (uint32_t i = 0; !far && i < set->hot_count; i++)
        far = set->hot[i]->s->carrier;
    sockets_spin_begin(spinning, far ? SOCKETS_SPIN_FAR : SOCKETS_SPIN_NEAR);
    for (uint32_t i = 0; far && spinning->limit_ns > 0 && i < set->hot_count; i++)
        sockets_carrier_spins(set->hot[i]->s);
    sockets_epoll_unlock(set);
    return far;
}

/* Look at the rings for a while, and not beyond `end`; 0: there is none. */
static int spin(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                uint64_t end, const sigset_t *mask)
{
    struct sockets_spin spinning;
    const bool far = begin_spinning(&spinning, set), by_kernel = far || set->by_kernel;
    const uint32_t looks = far ? FAR_LOOKS : LOOKS_PER_CALL;
    bool bells;

    if (end > 0)
        sockets_spin_cut(&spinning, sockets_ns_until(end));
    while (sockets_spin_turn(&spinning)) {
        const bool asks = by_kernel ? spinning.turn % looks == 0 : sockets_spin_asks(&spinning);
        const int n = look(set, epfd, events, max, mask, asks, &bells);

        if (n != 0) {
            sockets_spin_won(&spinning);
            return n;
        }
    }
    return 0;
}

/* Before the kernel sleeps for the set, and for how long: false if something has come meanwhile. */
static bool begin_sleep(struct sockets_epoll *set, int epfd, struct kernels *k,
                        struct epoll_event *events, int max, const struct timespec **timeout)
{
    bool quiet = true;

    sockets_epoll_lock(set);
    make_room(k, set, events, max);
    if (++set->sleepers > 1 && !set->by_tcp)
        sockets_epoll_wake_by_tcp(set, epfd);
    sockets_defer_no_more(set, epfd);
    sockets_epoll_ask_for_withheld(set, epfd);
    for (uint32_t i = 0; i < set->hot_count; i++)
        if (!sockets_entry_doze(set->hot[i], epfd))
            sockets_entry_watch(set->hot[i]);
    sockets_epoll_join(set, epfd);
    atomic_thread_fence(memory_order_seq_cst); /* senders look for us after they have published */
    for (uint32_t i = 0; quiet && i < set->hot_count; i++)
        quiet = !sockets_entry_has_news(set->hot[i]);
    *timeout = quiet ? sockets_epoll_nap(set, *timeout) : &at_once;
    sockets_epoll_unlock(set);
    return quiet;
}

/* With the set's lock.  Of those that the kernel tells of the first one woke this thread. */
static void learn_wake(const struct sockets_epoll *set, const struct epoll_event *event,
                       uint64_t slept_at)
{
    const struct sockets_entry *entry = sockets_entry_of(event->data.u64);

    if (!entry)
        entry = sockets_entry_of_waker(event->data.u64);
    if (entry && entry->set == set && entry->s->upgraded)
        sockets_stream_learn_wake(entry->s, slept_at);
}

/* What a sleep in the kernel needs. */
struct sleep {
    int epfd;
    struct kernels *k;
    const struct timespec *timeout;
    const sigset_t *mask;
};

static ssize_t sleep_for_events(void *arg)
{
    const struct sleep *sleep = arg;

    return wait_in_kernel(sleep->epfd, sleep->k->events, sleep->k->room, sleep->timeout,
                          sleep->mask);
}

static int sleep_in_kernel(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                           const struct timespec *timeout, const sigset_t *mask, bool *bells)
{
    const uint64_t began = sockets_now_ns();
    struct kernels k;
    bool quiet;
    int n, error;

    quiet = begin_sleep(set, epfd, &k, events, max, &timeout);
    n = (int)sockets_core_sleep(sleep_for_events, &(struct sleep){epfd, &k, timeout, mask});
    error = errno;
    sockets_epoll_lock(set);
    leave_room(&k, set);
    if (n > 0 && quiet)
        learn_wake(set, &k.events[0], began);
    *bells = n > 0 || !quiet; /* look again */
    end_sleep(set, epfd);
    if (n > 0)
        n = tell(set, epfd, &k, n, events, max, began);
    sockets_epoll_unlock(set);
    errno = error;
    return n;
}

static int wait_for_set(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                        int64_t timeout_ns, const sigset_t *mask)
{
    const uint64_t end = timeout_ns > 0 ? sockets_now_ns() + (uint64_t)timeout_ns : 0;

    for (uint32_t turn = 1;; turn++) {
        struct timespec wait = at_once;
        bool bells = false;
        int n;

        if (atomic_load(&set->ended)) { /* the descriptor may be another set's by now */
            errno = EBADF;
            return -1;
        }
        if (set->hot_count > 0 || timeout_ns == 0) {
            n = look(set, epfd, events, max, mask, timeout_ns == 0, &bells);
            if (n == 0 && timeout_ns != 0)
                n = spin(set, epfd, events, max, end, mask);
            /* What is withheld is told of again and again, which keeps nobody who does not wait. */
            if (n != 0 || (timeout_ns == 0 && (!bells || turn == AT_ONCE_TURNS ||
                                               sockets_epoll_is_withheld_long(set))))
                return n;
            if (timeout_ns == 0)
                continue;
        }
        if (end > 0) {
            const uint64_t left = sockets_ns_until(end);
            wait = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
        }
        n = sleep_in_kernel(set, epfd, events, max, timeout_ns >= 0 ? &wait : NULL, mask, &bells);
        if (n == 0 && sockets_epoll_is_withheld_long(set))
            n = sockets_stream_nap(mask);
        if (n != 0)
            return n;
        if (end > 0 && sockets_now_ns() >= end)
            return 0;
    }
}

int sockets_epoll_wait(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                       int64_t timeout_ns, const sigset_t *mask)
{
    int n;

    sockets_round_end();
    if (__builtin_expect(set->shared, 0))
        sockets_epoll_learn_holders(set);
    n = wait_for_set(set, epfd, events, max, timeout_ns, mask);
    if (n > 1 && atomic_load_explicit(&set->far, memory_order_relaxed))
        sockets_round_begin(n);
    return n;
}
