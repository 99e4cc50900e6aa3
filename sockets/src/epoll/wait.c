/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.c - waiting for an epoll set: rings first, and the kernel.
 */
#include "epoll/internal.h"
#include "real/real.h"
#include "record/pause.h"
#include "spin/spin.h"
#include <errno.h>

enum {
    IDLE = 16,           /* sleeps without data after which one is hot no longer ... */
    IDLE_EACH = 4,       /* ... and so many more for each that is hot */
    KERNEL_EVERY = 8,    /* turns with events from rings until the kernel is asked, too */
    LOOKS_PER_CALL = 16, /* at the rings, while spinning, between two calls of the kernel */
};

/* What the ring of an entry says, 0 if nothing; with the set's lock.  *whole: the kernel has
 * nothing to add. */
static uint32_t ring_events(struct sockets_entry *entry, bool *whole)
{
    const uint32_t space = EPOLLOUT | EPOLLWRNORM;
    uint32_t events = 0;

    if (sockets_stream_hint(entry->s) && !sockets_stream_has_data(entry->s))
        *whole = false; /* it may be readable by TCP */
    if (!sockets_entry_has_news(entry))
        return 0;
    entry->seen = sockets_stream_arrived(entry->s);
    events |= entry->events & (EPOLLIN | EPOLLRDNORM);
    if (sockets_stream_has_space(entry->s))
        events |= entry->events & space;
    else if (entry->events & space)
        *whole = false;
    return events;
}

static int collect_hot(struct sockets_epoll *set, struct epoll_event *events, int max, bool *whole)
{
    const uint32_t first = set->turn;
    int n = 0;

    for (uint32_t i = 0; i < set->hot_count && n < max; i++) {
        struct sockets_entry *entry = set->hot[(first + i) % set->hot_count];
        const uint32_t found = ring_events(entry, whole);

        if (!found)
            continue;
        entry->idle = 0;
        events[n++] = (struct epoll_event){.events = found, .data.ptr = entry};
    }
    return n;
}

/* An event of the kernel's for an upgraded connection: what is left of it for the program, and what
 * its ring adds.  Arrivals count as seen only if the program is told of data: those that come after
 * a bell was found to be nothing else, or together with space alone, are still to be told. */
static uint32_t without_bells(struct sockets_entry *entry, uint32_t found)
{
    const uint32_t data = EPOLLIN | EPOLLRDNORM, ends = EPOLLERR | EPOLLHUP | EPOLLRDHUP;

    sockets_stream_answer(entry->s, entry->via);
    if ((found & data) && !(found & ends) && !sockets_stream_readable(entry->s, entry->via))
        found &= ~data;
    if (sockets_entry_has_news(entry))
        found |= entry->events & data;
    if (found & data)
        entry->seen = sockets_stream_arrived(entry->s);
    sockets_entry_make_hot(entry);
    if (!entry->hot && (entry->events & EPOLLET))
        sockets_stream_expect_bell(entry->s, entry->via);
    return found;
}

/* Add an event of the kernel's to those that are there.  Returns how many are. */
static int add_event(struct sockets_epoll *set, struct epoll_event *events, int n, int told,
                     struct epoll_event event)
{
    struct sockets_entry *entry = sockets_entry_of(event.data.u64);

    if (!entry) { /* a descriptor that is none of ours */
        events[n] = event;
        return n + 1;
    }
    if (entry->set != set || entry->told)
        return n;
    for (int i = 0; i < told; i++)
        if (events[i].data.ptr == entry) {
            events[i].events |= event.events;
            return n;
        }
    if (entry->s->upgraded)
        event.events = without_bells(entry, event.events);
    if (!event.events)
        return n;
    events[n] = event;
    return n + 1;
}

/* The program gets its own data instead of our entries. */
static void give_data(struct sockets_epoll *set, struct epoll_event *events, int n)
{
    for (int i = 0; i < n; i++) {
        struct sockets_entry *entry = sockets_entry_of(events[i].data.u64);

        if (!entry || entry->set != set)
            continue;
        events[i].data = entry->data;
        entry->told = entry->events & EPOLLONESHOT;
    }
}

static int wait_in_kernel(int epfd, struct epoll_event *events, int max,
                          const struct timespec *timeout, const sigset_t *mask)
{
    if (timeout && timeout->tv_nsec % 1000000 != 0 && sockets_real.epoll_pwait2)
        return sockets_real.epoll_pwait2(epfd, events, max, timeout, mask);
    return sockets_real.epoll_pwait(
        epfd, events, max,
        timeout ? (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000) : -1, mask);
}

/* One that was idle for long is left armed, and no longer looked at, unless its sender counts on
 * our looking (together.c).  Edges of data that follows unread data need a bell each time: see
 * begin_sleep. */
static bool cools(struct sockets_entry *entry)
{
    if (entry->idle < IDLE + IDLE_EACH * entry->set->hot_count) {
        entry->idle++;
        return false;
    }
    sockets_entry_leave_together(entry);
    return !sockets_stream_has_data(entry->s);
}

/* With the set's lock. */
static void end_sleep(struct sockets_epoll *set)
{
    set->sleepers--;
    sockets_epoll_part(set);
    if (set->cold)
        sockets_epoll_settle(set);
    for (uint32_t i = 0; !set->cold && i < set->hot_count;) {
        if (cools(set->hot[i])) {
            sockets_epoll_cool(set, i);
            continue;
        }
        if (set->sleepers == 0)
            sockets_entry_disarm(set->hot[i]);
        i++;
    }
}

/* Of `n` events of the kernel's, or -1, those that the program is told, behind `told` others.
 * Returns how many there are then, or, if none were there, -1 and errno.  *bells: some of the
 * kernel's were of no interest. */
static int keep_events(struct sockets_epoll *set, struct epoll_event *events, int told, int n,
                       bool *bells)
{
    int kept = told;

    if (n < 0 && told == 0)
        return n;
    pthread_mutex_lock(&set->lock);
    for (int i = 0; i < n; i++)
        kept = add_event(set, events, kept, told, events[told + i]);
    *bells = kept == told && n > 0;
    give_data(set, events, kept);
    pthread_mutex_unlock(&set->lock);
    return kept;
}

/* Ask the kernel; `told` events of the array are there already. */
static int ask_kernel(struct sockets_epoll *set, int epfd, struct epoll_event *events, int told,
                      int max, const struct timespec *timeout, const sigset_t *mask, bool *bells)
{
    return keep_events(set, events, told,
                       wait_in_kernel(epfd, events + told, max - told, timeout, mask), bells);
}

/* The same for a set that sleeps, and wakes. */
static int sleep_in_kernel(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                           const struct timespec *timeout, const sigset_t *mask, bool *bells)
{
    const int n = wait_in_kernel(epfd, events, max, timeout, mask), error = errno;

    pthread_mutex_lock(&set->lock);
    end_sleep(set);
    pthread_mutex_unlock(&set->lock);
    errno = error;
    return keep_events(set, events, 0, n, bells);
}

static const struct timespec at_once;

/* Rings first, and the kernel if asked for, or now and then.  Returns events, 0, or -1 and errno.
 */
static int look(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                const sigset_t *mask, bool kernel, bool *bells)
{
    bool whole = !kernel;
    int n;

    pthread_mutex_lock(&set->lock);
    if (set->cold)
        sockets_epoll_settle(set);
    n = collect_hot(set, events, max, &whole);
    if (++set->turn % KERNEL_EVERY == 0 && n > 0)
        whole = false;
    if (n == max || (n > 0 && whole))
        give_data(set, events, n);
    pthread_mutex_unlock(&set->lock);
    if (n == max || whole)
        return n;
    return ask_kernel(set, epfd, events, n, max, &at_once, mask, bells);
}

/* Look at the rings for a while. */
static int spin(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                const sigset_t *mask)
{
    struct sockets_spin spinning;
    bool bells;

    sockets_spin_begin(&spinning);
    while (sockets_spin_turn(&spinning)) {
        const int n =
            look(set, epfd, events, max, mask, spinning.turn % LOOKS_PER_CALL == 0, &bells);

        if (n != 0) {
            sockets_spin_won(&spinning);
            return n;
        }
    }
    return 0;
}

/* Before the kernel sleeps for the set: false if something has come meanwhile. */
static bool begin_sleep(struct sockets_epoll *set, int epfd)
{
    bool quiet = true;

    pthread_mutex_lock(&set->lock);
    set->sleepers++;
    sockets_epoll_join(set, epfd);
    for (uint32_t i = 0; i < set->hot_count; i++) {
        sockets_entry_arm(set->hot[i]);
        sockets_stream_answer(set->hot[i]->s, set->hot[i]->via);
        if (set->hot[i]->events & EPOLLET)
            sockets_stream_expect_bell(set->hot[i]->s, set->hot[i]->via);
    }
    for (uint32_t i = 0; quiet && i < set->hot_count; i++)
        quiet = !sockets_entry_has_news(set->hot[i]);
    pthread_mutex_unlock(&set->lock);
    return quiet;
}

int sockets_epoll_wait(struct sockets_epoll *set, int epfd, struct epoll_event *events, int max,
                       int64_t timeout_ns, const sigset_t *mask)
{
    const uint64_t end = timeout_ns > 0 ? sockets_now_ns() + (uint64_t)timeout_ns : 0;

    for (;;) {
        struct timespec wait = at_once;
        bool bells = false, limited = timeout_ns >= 0;
        int n;

        if (set->hot_count > 0 || timeout_ns == 0) {
            n = look(set, epfd, events, max, mask, timeout_ns == 0, &bells);
            if (n == 0 && timeout_ns != 0)
                n = spin(set, epfd, events, max, mask);
            if (n != 0 || (timeout_ns == 0 && !bells))
                return n;
            if (timeout_ns == 0)
                continue;
        }
        if (end > 0) {
            const uint64_t now = sockets_now_ns();
            const uint64_t left = now < end ? end - now : 0;
            wait = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
        }
        if (!begin_sleep(set, epfd)) {
            wait = at_once;
            limited = true;
            bells = true; /* look again */
        }
        n = sleep_in_kernel(set, epfd, events, max, limited ? &wait : NULL, mask, &bells);
        if (n != 0)
            return n;
        if (end > 0 && sockets_now_ns() >= end)
            return 0;
    }
}
