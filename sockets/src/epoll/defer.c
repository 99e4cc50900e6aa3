/* SPDX-License-Identifier: BSD-3-Clause
 *
 * defer.c - what the kernel's set is told of only when somebody asks it.
 *
 * Programs that write a request, and then wait for its answer, change what they want of a
 * connection several times for each, and the rings tell of both without the kernel.  So the kernel
 * hears of such changes before it is next asked, and of those that took each other back never.  A
 * connection that was removed stays in the kernel's set until then as well, as an entry that is
 * `removed`.
 *
 * That is done where nobody but this process asks the kernel, nobody sleeps there, all is told of
 * by level, and TCP has nothing of this connection: it is in the set's order as of the last change
 * (order.c), where the kernel would have put it.
 */
#include "epoll/internal.h"
#include "real/real.h"

bool sockets_defer_may(const struct sockets_epoll *set, const struct sockets_entry *entry,
                       uint32_t events)
{
    return !set->cold && !set->shared && !set->edges && set->sleepers == 0 &&
           !(events & ~(uint32_t)SOCKETS_BY_LEVEL) && entry->via == entry->fd &&
           entry->s->upgraded && sockets_stream_is_tcp_empty(entry->s);
}

void sockets_defer(struct sockets_epoll *set, struct sockets_entry *entry)
{
    atomic_fetch_add_explicit(&sockets_counters->deferred, 1, memory_order_relaxed);
    if (entry->deferred)
        return;
    entry->deferred = true;
    entry->next_deferred = NULL;
    if (set->deferred)
        set->last_deferred->next_deferred = entry;
    else
        set->deferred = entry;
    set->last_deferred = entry;
}

void sockets_defer_forget(struct sockets_epoll *set, struct sockets_entry *entry)
{
    struct sockets_entry *before = NULL, *at = set->deferred;

    if (!entry->deferred)
        return;
    entry->deferred = false;
    while (at && at != entry) {
        before = at;
        at = at->next_deferred;
    }
    if (!at)
        return;
    if (before)
        before->next_deferred = entry->next_deferred;
    else
        set->deferred = entry->next_deferred;
    if (set->last_deferred == entry)
        set->last_deferred = before;
}

static void tell_kernel(struct sockets_epoll *set, int epfd, struct sockets_entry *entry)
{
    struct epoll_event event = {.events = entry->events, .data.u64 = sockets_entry_data(entry)};

    entry->deferred = false;
    if (entry->removed) {
        sockets_real.epoll_ctl(epfd, EPOLL_CTL_DEL, entry->fd, NULL);
        sockets_entry_free(set, entry);
    } else if (entry->events != entry->kernels) {
        sockets_real.epoll_ctl(epfd, EPOLL_CTL_MOD, entry->fd, &event);
        entry->kernels = entry->events;
    }
}

void sockets_defer_no_more(struct sockets_epoll *set, int epfd)
{
    struct sockets_entry *entry = set->deferred;

    set->deferred = NULL;
    while (entry) {
        struct sockets_entry *next = entry->next_deferred;

        tell_kernel(set, epfd, entry);
        entry = next;
    }
}
