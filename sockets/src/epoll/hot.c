/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hot.c - which connections of a set have their rings looked at, and which are armed.
 *
 * A cold set is one about which somebody asks the kernel (poll, another set).  All of its
 * connections are armed for good.  What lies in a ring from before they were has rung no bell; as
 * long as there is such data, an eventfd in the kernel's set makes that readable, and the
 * connection counts as hot.
 */
#include "epoll/internal.h"
#include "real/hidden.h"
#include "real/real.h"
#include "stream/carrier.h"
#include <stdlib.h>
#include <sys/eventfd.h>

enum { HOT_FIRST = 16 };

bool sockets_entry_has_data(const struct sockets_entry *entry)
{
    return !entry->told && sockets_entry_wants_data(entry) && sockets_stream_has_data(entry->s) &&
           (!(entry->events & EPOLLET) || sockets_stream_arrived(entry->s) != entry->seen);
}

bool sockets_entry_has_space(const struct sockets_entry *entry)
{
    return sockets_entry_wants_space(entry) && sockets_stream_has_space(entry->s);
}

bool sockets_entry_has_news(const struct sockets_entry *entry)
{
    return sockets_entry_has_data(entry) || sockets_entry_has_space(entry);
}

void sockets_entry_disarm(struct sockets_entry *entry)
{
    if (entry->armed)
        sockets_stream_disarm(entry->s);
    entry->armed = false;
}

void sockets_entry_arm(struct sockets_entry *entry)
{
    if (!entry->armed && entry->s->upgraded)
        sockets_stream_arm(entry->s);
    entry->armed = entry->s->upgraded;
}

void sockets_entry_watch(struct sockets_entry *entry)
{
    sockets_entry_arm(entry);
    sockets_stream_answer(entry->s, entry->via);
    if (entry->events & EPOLLET)
        sockets_stream_expect_bell(entry->s, entry->via);
}

void sockets_epoll_cool(struct sockets_epoll *set, uint32_t i)
{
    sockets_entry_leave_together(set->hot[i]);
    sockets_entry_wake(set->hot[i]);
    set->hot[i]->hot = false;
    set->hot[i] = set->hot[--set->hot_count];
}

bool sockets_epoll_make_room(struct sockets_epoll *set)
{
    const uint32_t room = set->hot_room ? 2 * set->hot_room : HOT_FIRST;
    struct sockets_entry **hot;

    if (set->count < set->hot_room)
        return true;
    hot = realloc(set->hot, room * sizeof(*hot));
    if (!hot)
        return false;
    set->hot = hot;
    if (!sockets_order_make_room(set, room))
        return false;
    set->hot_room = room;
    return true;
}

static bool append(struct sockets_epoll *set, struct sockets_entry *entry)
{
    if (set->hot_count == set->hot_room)
        return false;
    entry->hot = true;
    set->hot[set->hot_count++] = entry;
    return true;
}

static void make_owed(struct sockets_epoll *set, struct sockets_entry *entry)
{
    const uint64_t one = 1;

    if (entry->hot || !sockets_entry_has_news(entry) || !append(set, entry))
        return;
    if (set->owed >= 0)
        sockets_real.write(sockets_hidden_fd(set->owed), &one, sizeof(one));
}

void sockets_entry_make_hot(struct sockets_entry *entry)
{
    struct sockets_epoll *set = entry->set;

    if (!entry->s->upgraded)
        return;
    sockets_stream_order(entry->s);
    entry->idle = 0;
    if (sockets_carrier_is_resting(entry->s)) { /* the kernel tells of all */
        sockets_entry_forget_hot(set, entry);
        sockets_entry_arm(entry);
        return;
    }
    if (entry->s->carrier && !sockets_entry_wants_data(entry)) {
        /* Nobody sleeps for data; another host would hear that too late to answer by the ring. */
        sockets_entry_disarm(entry);
        return;
    }
    if (set->cold || !(sockets_entry_wants_data(entry) || sockets_entry_wants_space(entry)) ||
        (!entry->hot && !append(set, entry))) {
        sockets_entry_arm(entry);
        if (sockets_entry_wants_data(entry))
            make_owed(set, entry);
        return;
    }
    if (set->sleepers > 0) /* the last of them disarms it when it wakes */
        sockets_entry_watch(entry);
    else
        sockets_entry_disarm(entry);
}

void sockets_entry_forget_hot(struct sockets_epoll *set, struct sockets_entry *entry)
{
    for (uint32_t i = 0; entry->hot && i < set->hot_count; i++)
        if (set->hot[i] == entry)
            sockets_epoll_cool(set, i);
}

/* ---- cold sets -------------------------------------------------------------------- */

/* The eventfd comes into the kernel's set with the data of an entry that is in no set, so that what
 * the kernel tells of it is left out. */
void sockets_epoll_add_owed(struct sockets_epoll *set, int epfd)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (!set->nobody && !(set->nobody = sockets_entry_new()))
        return;
    event.data.u64 = sockets_entry_data(set->nobody);
    set->owed = sockets_hidden_keep(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (set->owed >= 0)
        sockets_real.epoll_ctl(epfd, EPOLL_CTL_ADD, sockets_hidden_fd(set->owed), &event);
}

static void make_cold(struct sockets_epoll *set, int epfd)
{
    uint32_t count;

    sockets_epoll_lock(set);
    sockets_defer_no_more(set, epfd);
    if (!set->cold) {
        sockets_epoll_doze_no_more(set, epfd);
        set->cold = true;
        if (set->owed < 0)
            sockets_epoll_add_owed(set, epfd);
        count = set->hot_count;
        set->hot_count = 0;
        for (uint32_t i = 0; i < count; i++) { /* appends at most what was read */
            set->hot[i]->hot = false;
            sockets_entry_leave_together(set->hot[i]);
            sockets_entry_make_hot(set->hot[i]);
        }
    } else if (set->hot_count > 0) { /* what was owed may have been taken meanwhile */
        sockets_epoll_settle(set);
    }
    sockets_epoll_unlock(set);
}

void sockets_epoll_make_cold(int epfd)
{
    struct sockets_epoll *set = sockets_epoll_enter(epfd);

    if (!set)
        return;
    make_cold(set, epfd);
    sockets_epoll_leave(set);
}

void sockets_epoll_settle(struct sockets_epoll *set)
{
    uint64_t count;

    for (uint32_t i = 0; i < set->hot_count;)
        if (sockets_entry_has_news(set->hot[i]))
            i++;
        else
            sockets_epoll_cool(set, i);
    if (set->hot_count == 0 && set->owed >= 0)
        sockets_real.read(sockets_hidden_fd(set->owed), &count, sizeof(count));
}
