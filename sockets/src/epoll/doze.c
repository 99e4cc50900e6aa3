/* SPDX-License-Identifier: BSD-3-Clause
 *
 * doze.c - sets that are woken without TCP.
 *
 * Who sleeps in a set is woken by a byte on the waker of a connection (stream/doze.c), sooner than
 * by one of TCP, and finds the data in the ring.  So the wakers of hot connections are in the
 * kernel's set, too, with the data of their entry and one more as their data.  That is done for
 * a set with one sleeper, that no other process has; one in which several threads sleep is woken by
 * TCP for good, as each of them would hear of a byte that another one is to take.
 */
#include "epoll/internal.h"
#include "real/real.h"

enum { EVENTS = EPOLLIN | EPOLLRDHUP };

static bool may_doze(const struct sockets_entry *entry)
{
    const struct sockets_epoll *set = entry->set;

    return set->sleepers == 1 && !set->by_tcp && !set->cold && !set->shared &&
           sockets_entry_is_sole(entry) && sockets_entry_wants_data(entry) && entry->s->upgraded &&
           !entry->s->carrier;
}

/* A waker that is given up by another thread leaves the kernel's set as it is closed. */
static bool add_waker(struct sockets_entry *entry, int epfd)
{
    struct epoll_event event = {.events = EVENTS, .data.u64 = sockets_entry_data(entry) + 1};
    int fd;

    if (!sockets_stream_claim_waker(entry->s, SOCKETS_WAKER_SEVERAL))
        return false;
    fd = sockets_stream_begin_use(entry->s);
    if (fd >= 0 && sockets_real.epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) == 0)
        entry->waker_fd = fd;
    sockets_stream_end_use(entry->s);
    if (entry->waker_fd == 0)
        sockets_stream_release_waker(entry->s);
    return entry->waker_fd != 0;
}

void sockets_entry_remove_waker(struct sockets_entry *entry, int epfd)
{
    int fd;

    if (entry->waker_fd == 0)
        return;
    fd = sockets_stream_begin_use(entry->s);
    if (fd == entry->waker_fd)
        sockets_real.epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL);
    sockets_stream_end_use(entry->s);
    /* It has moved away from a file of the program's: only its end takes it out of the set. */
    if (fd >= 0 && fd != entry->waker_fd)
        sockets_stream_give_up_waker(entry->s);
    entry->waker_fd = 0;
    sockets_stream_release_waker(entry->s);
}

bool sockets_entry_doze(struct sockets_entry *entry, int epfd)
{
    if (entry->dozes || !may_doze(entry) || (entry->waker_fd == 0 && !add_waker(entry, epfd)))
        return false;
    entry->dozes = sockets_stream_begin_doze(entry->s, true);
    return entry->dozes;
}

void sockets_entry_wake(struct sockets_entry *entry)
{
    if (entry->dozes)
        sockets_stream_end_doze(entry->s, true);
    entry->dozes = false;
}

struct sockets_entry *sockets_entry_of_waker(uint64_t data)
{
    return sockets_entry_of(data - 1);
}

void sockets_entry_take_wake_ups(struct sockets_epoll *set, int epfd, struct sockets_entry *entry)
{
    if (entry->set != set || entry->waker_fd == 0)
        return;
    if (set->sleepers > 0) { /* it is another one's, who hears of it so */
        sockets_epoll_wake_by_tcp(set, epfd);
        return;
    }
    if (!sockets_stream_take_wake_ups(entry->s))
        sockets_entry_remove_waker(entry, epfd);
}

/* What a byte was to tell of before its waker left the set, somebody has to be told of again. */
void sockets_epoll_doze_no_more(struct sockets_epoll *set, int epfd)
{
    for (uint32_t i = 0; i < set->hot_count; i++)
        if (set->hot[i]->dozes) {
            sockets_entry_watch(set->hot[i]);
            sockets_entry_wake(set->hot[i]);
        }
    sockets_epoll_remove_wakers(set, epfd);
    sockets_epoll_kick(set);
    for (uint32_t i = 0; !set->kicked && i < set->hot_count; i++)
        sockets_epoll_rouse(set, epfd, set->hot[i]);
}

void sockets_epoll_wake_by_tcp(struct sockets_epoll *set, int epfd)
{
    set->by_tcp = true;
    sockets_epoll_doze_no_more(set, epfd);
}
