/* SPDX-License-Identifier: BSD-3-Clause
 *
 * doze.c - sets that are woken without TCP.
 *
 * Who sleeps in a set is woken by a byte on the waker of a connection (stream/doze.c), sooner than
 * by one of TCP, and finds the data in the ring.  So wakers come into the kernel's set, too, with
 * the address of their entry and one more as their data.  That is done for one sleeper of a set
 * that no other process has; another one that comes meanwhile arms the connections for both.
 */
#include "epoll/internal.h"
#include "real/hidden.h"
#include "real/real.h"

enum { EVENTS = EPOLLIN | EPOLLRDHUP };

static bool may_doze(const struct sockets_entry *entry)
{
    const struct sockets_epoll *set = entry->set;

    return set->sleepers == 1 && !set->cold && !set->shared && sockets_entry_is_sole(entry) &&
           sockets_entry_wants_data(entry) && entry->s->upgraded && !entry->s->carrier;
}

static bool add_waker(struct sockets_entry *entry, int epfd)
{
    struct epoll_event event = {.events = EVENTS, .data.u64 = (uint64_t)(uintptr_t)entry + 1};
    const int fd = sockets_stream_claim_waker(entry->s);

    if (fd < 0)
        return false;
    if (sockets_real.epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0) {
        sockets_stream_release_waker(entry->s);
        return false;
    }
    entry->waker_fd = fd;
    return true;
}

void sockets_entry_remove_waker(struct sockets_entry *entry, int epfd)
{
    if (entry->waker_fd == 0)
        return;
    /* Else it has been closed, or has moved away from a file of the program's, which only happens
     * where descriptors are few; then there is no other way to get it out of the set. */
    if (sockets_stream_waker_fd(entry->s) == entry->waker_fd)
        sockets_real.epoll_ctl(epfd, EPOLL_CTL_DEL, entry->waker_fd, NULL);
    else
        sockets_stream_give_up_waker(entry->s);
    entry->waker_fd = 0;
    sockets_stream_release_waker(entry->s);
}

bool sockets_entry_doze(struct sockets_entry *entry, int epfd)
{
    if (entry->dozes || !may_doze(entry) || (entry->waker_fd == 0 && !add_waker(entry, epfd)))
        return false;
    entry->dozes = sockets_stream_begin_doze(entry->s);
    return entry->dozes;
}

void sockets_entry_wake(struct sockets_entry *entry)
{
    if (entry->dozes)
        sockets_stream_end_doze(entry->s);
    entry->dozes = false;
}

struct sockets_entry *sockets_entry_of_waker(uint64_t data)
{
    return sockets_entry_of(data - 1);
}

void sockets_entry_take_wake_ups(struct sockets_epoll *set, int epfd, struct sockets_entry *entry)
{
    /* Others still sleep, and one of them may have been woken by this. */
    if (entry->set != set || entry->waker_fd == 0 || set->sleepers > 0)
        return;
    if (!sockets_stream_take_wake_ups(entry->s))
        sockets_entry_remove_waker(entry, epfd);
}

void sockets_epoll_doze_no_more(struct sockets_epoll *set, int epfd)
{
    for (uint32_t i = 0; i < set->hot_count; i++) {
        struct sockets_entry *entry = set->hot[i];

        if (entry->dozes)
            sockets_entry_arm(entry);
        sockets_entry_wake(entry);
        sockets_entry_remove_waker(entry, epfd);
        sockets_epoll_rouse(set, epfd, entry); /* it may have been woken by the waker */
    }
}
