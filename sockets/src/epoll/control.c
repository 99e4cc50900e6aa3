/* SPDX-License-Identifier: BSD-3-Clause
 *
 * control.c - what the program says of its connections to a set: epoll_ctl.
 */
#include "epoll/internal.h"
#include "real/real.h"
#include "record/pause.h"
#include <errno.h>

enum { ROOMY_NS = 100000000 }; /* who is in the kernel is woken; but may be stopped */

/* What the program wants of an entry is new. */
static void change(struct sockets_entry *entry, const struct epoll_event *event)
{
    entry->events = event->events;
    entry->data = event->data;
    entry->told = false;
}

/* One that was removed, while the kernel has not heard of it, comes again. */
static bool add_again(struct sockets_epoll *set, int epfd, struct sockets_entry *entry,
                      const struct epoll_event *event)
{
    if (!sockets_defer_may(set, entry, event->events)) {
        sockets_defer_no_more(set, epfd);
        return false;
    }
    sockets_defer(set, entry);
    entry->removed = false;
    change(entry, event);
    entry->told_at = sockets_now_ns();
    sockets_entry_make_hot(entry);
    return true;
}

static int add(struct sockets_epoll *set, int epfd, int fd, struct sockets_stream *s,
               const struct epoll_event *event)
{
    struct sockets_entry *entry = sockets_epoll_make_room(set) ? sockets_entry_new() : NULL;
    struct epoll_event ours = {.events = event->events};

    if (!entry) {
        errno = ENOMEM;
        return -1;
    }
    sockets_entry_link(set, entry, fd, s);
    ours.data.u64 = sockets_entry_data(entry);
    change(entry, event);
    entry->kernels = event->events;
    entry->told_at = sockets_now_ns();
    if (sockets_real.epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ours) < 0) {
        const int error = errno;
        sockets_entry_remove(set, entry);
        errno = error;
        return -1;
    }
    sockets_entry_make_hot(entry);
    sockets_epoll_rouse(set, epfd, entry);
    return 0;
}

static int modify(struct sockets_epoll *set, int epfd, int fd, struct sockets_stream *s,
                  const struct epoll_event *event)
{
    struct sockets_entry *entry = sockets_entry_find(set, fd, s);
    struct epoll_event ours = {.events = event->events};

    if (!entry)
        return sockets_real.epoll_ctl(epfd, EPOLL_CTL_MOD, fd, (struct epoll_event *)event);
    ours.data.u64 = sockets_entry_data(entry);
    if (sockets_defer_may(set, entry, event->events)) {
        sockets_defer(set, entry);
        if (entry->told_at < set->told_at) /* what is ready now was not when others were told */
            entry->told_at = sockets_now_ns();
    } else {
        if (sockets_real.epoll_ctl(epfd, EPOLL_CTL_MOD, fd, &ours) < 0)
            return -1;
        entry->kernels = event->events;
    }
    change(entry, event);
    entry->seen = SOCKETS_UNKNOWN;
    if (!sockets_entry_wants_data(entry) && !sockets_entry_wants_space(entry))
        sockets_entry_forget_hot(set, entry);
    sockets_entry_make_hot(entry);
    sockets_epoll_kick(set);
    sockets_epoll_rouse(set, epfd, entry);
    return 0;
}

/* Before the kernel hears of an edge those leave it that ask for more events than the
 * program wants: what they left out would be told of no more. */
static void note_edges(struct sockets_epoll *set, int epfd, const struct epoll_event *event)
{
    uint64_t until;

    if (!(event->events & (EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE)))
        return;
    until = set->roomy > 0 ? sockets_now_ns() + ROOMY_NS : 0;
    set->edges = true; /* nobody comes with such room any more */
    for (uint32_t turn = 1; set->roomy > set->stuck && sockets_now_ns() < until; turn++) {
        sockets_epoll_wake(set, epfd);
        sockets_epoll_unlock(set);
        sockets_wait_turn(turn);
        sockets_epoll_lock(set);
    }
    if (set->roomy > set->stuck)
        set->stuck = set->roomy;
}

void sockets_epoll_note(struct sockets_epoll *set, int epfd, const struct epoll_event *event)
{
    sockets_epoll_lock(set);
    note_edges(set, epfd, event);
    sockets_epoll_unlock(set);
}

static int remove_from(struct sockets_epoll *set, int epfd, int fd, struct sockets_stream *s)
{
    struct sockets_entry *entry = sockets_entry_find(set, fd, s);

    if (entry && sockets_defer_may(set, entry, entry->kernels)) {
        sockets_entry_forget_hot(set, entry);
        sockets_entry_leave_together(entry);
        sockets_entry_disarm(entry);
        sockets_defer(set, entry);
        entry->removed = true;
        return 0;
    }
    if (sockets_real.epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL) < 0)
        return -1;
    if (entry)
        sockets_entry_remove(set, entry);
    return 0;
}

/* An entry that is removed is none for the program. */
static struct sockets_entry *removed_entry(struct sockets_epoll *set, int fd,
                                           struct sockets_stream *s)
{
    struct sockets_entry *entry = set->deferred ? sockets_entry_find(set, fd, s) : NULL;

    return entry && entry->removed ? entry : NULL;
}

static int control(struct sockets_epoll *set, int epfd, int op, int fd, struct sockets_stream *s,
                   struct epoll_event *event)
{
    struct sockets_entry *removed = removed_entry(set, fd, s);

    if (op == EPOLL_CTL_ADD && event) {
        if (removed && add_again(set, epfd, removed, event))
            return 0;
        return add(set, epfd, fd, s, event);
    }
    if (removed)
        sockets_defer_no_more(set, epfd); /* the kernel's to judge */
    if (op == EPOLL_CTL_MOD && event)
        return modify(set, epfd, fd, s, event);
    if (op == EPOLL_CTL_DEL)
        return remove_from(set, epfd, fd, s);
    return sockets_real.epoll_ctl(epfd, op, fd, event);
}

int sockets_epoll_ctl(struct sockets_epoll *set, int epfd, int op, int fd, struct sockets_stream *s,
                      struct epoll_event *event)
{
    int result;

    sockets_epoll_lock(set);
    if (set->inherited)
        sockets_epoll_disturb(set);
    if (event && op != EPOLL_CTL_DEL)
        note_edges(set, epfd, event);
    result = control(set, epfd, op, fd, s, event);
    if (set->cold)
        sockets_epoll_settle(set);
    sockets_epoll_unlock(set);
    if (op == EPOLL_CTL_ADD && result == 0)
        sockets_epoll_part_others(set, s);
    return result;
}
