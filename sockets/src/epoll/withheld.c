/* SPDX-License-Identifier: BSD-3-Clause
 *
 * withheld.c - what the kernel has told of before the carrier of another host's data had.
 *
 * The program is not told of that yet (stream/far.c).  The kernel tells of it again by level; but
 * by an edge, or once, it has told, and has to be asked again.  It cannot be where the descriptor
 * that is in the set was closed while a copy of it lives on, and of EPOLLEXCLUSIVE: of those the
 * set finds out itself, and nobody sleeps for longer than a moment meanwhile.
 */
#include "epoll/internal.h"
#include "real/real.h"
#include "stream/carrier.h"

enum { NAP_NS = 1000000 };

static uint32_t withheld_of(const struct sockets_entry *entry)
{
    return atomic_load_explicit(&entry->s->withheld, memory_order_relaxed);
}

bool sockets_entry_is_withheld(const struct sockets_entry *entry)
{
    return (entry->events & (EPOLLET | EPOLLONESHOT)) && !entry->told &&
           withheld_of(entry) != entry->withheld;
}

static bool kernel_can_be_asked(const struct sockets_entry *entry)
{
    return entry->via == entry->fd && !(entry->events & EPOLLEXCLUSIVE);
}

static bool ask_kernel(struct sockets_entry *entry, int epfd)
{
    struct epoll_event event = {.events = entry->events, .data.u64 = sockets_entry_data(entry)};

    return kernel_can_be_asked(entry) &&
           sockets_real.epoll_ctl(epfd, EPOLL_CTL_MOD, entry->fd, &event) == 0;
}

void sockets_entry_told_in_vain(struct sockets_entry *entry, int epfd)
{
    const bool again = entry->s->carrier || (entry->events & EPOLLONESHOT);

    if (!entry->hot && again && kernel_can_be_asked(entry))
        ask_kernel(entry, epfd);
    else if (entry->events & EPOLLONESHOT)
        entry->withheld--;
}

void sockets_epoll_ask_for_withheld(struct sockets_epoll *set, int epfd)
{
    set->blind = false;
    for (uint32_t i = 0; set->edges && i < set->hot_count; i++) {
        struct sockets_entry *entry = set->hot[i];
        const uint32_t withheld = withheld_of(entry);

        if (!sockets_entry_is_withheld(entry))
            continue;
        if (ask_kernel(entry, epfd))
            entry->withheld = withheld;
        else
            set->blind = true;
    }
}

/* What the kernel would tell of now, as it is, if it could be asked.  0: that is still withheld, or
 * nothing. */
static uint32_t find_out(struct sockets_entry *entry)
{
    const uint32_t before = withheld_of(entry);
    const bool readable = sockets_entry_wants_data(entry) && sockets_entry_is_readable(entry);

    if (!readable && withheld_of(entry) != before)
        return 0;
    entry->withheld = withheld_of(entry);
    if (readable)
        sockets_stream_note_told(entry->s);
    return entry->events & (SOCKETS_SPACE | (readable ? EPOLLIN | EPOLLRDNORM : 0));
}

int sockets_epoll_add_withheld(struct sockets_epoll *set, struct epoll_event *events, int n,
                               int room)
{
    for (uint32_t i = 0; set->blind && i < set->hot_count && n < room; i++) {
        struct sockets_entry *entry = set->hot[i];
        uint32_t found;

        if (entry->scan == set->scan || !sockets_entry_is_withheld(entry) ||
            !(found = find_out(entry)))
            continue;
        entry->scan = set->scan;
        events[n++] = (struct epoll_event){.events = found, .data.u64 = sockets_entry_data(entry)};
    }
    return n;
}

const struct timespec *sockets_epoll_nap(const struct sockets_epoll *set,
                                         const struct timespec *timeout)
{
    static const struct timespec nap = {.tv_nsec = NAP_NS};
    const bool is_short = timeout && timeout->tv_sec == 0 && timeout->tv_nsec < NAP_NS;

    return set->blind && !is_short ? &nap : timeout;
}

bool sockets_epoll_is_withheld_long(struct sockets_epoll *set)
{
    bool is = false;

    sockets_epoll_lock(set);
    for (uint32_t i = 0; !is && i < set->hot_count; i++)
        is = sockets_stream_is_withheld_long(set->hot[i]->s);
    sockets_epoll_unlock(set);
    return is;
}
