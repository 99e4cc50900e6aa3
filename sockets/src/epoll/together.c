/* SPDX-License-Identifier: BSD-3-Clause
 *
 * together.c - one wake-up for all connections of a set.
 *
 * Before a set sleeps it writes one value, that it has never used before and nobody can guess, into
 * the rings of its hot connections.  A sender that has woken the set by one of them need not do so
 * by the others: who wakes looks at all rings before it sleeps again.  That holds as long as the
 * wake-up does reach the one that sleeps.  So it is only done for a set with one sleeper, for peers
 * of our user (another one could say a value that it has read to an honest peer of ours), for
 * connections whose data is told of by level, once, and that belong to this process alone; and if
 * another thread takes a connection out of the set, or data from it, the sleeper gets a new value,
 * and is woken by an eventfd if something came meanwhile.
 */
#include "epoll/internal.h"
#include "real/hidden.h"
#include "real/real.h"
#include <sys/random.h>

enum { LEAST = 2 }; /* connections for which it is worth while */

static bool may_share(const struct sockets_entry *entry)
{
    return sockets_entry_wants_data(entry) && !(entry->events & EPOLLET) &&
           sockets_entry_is_sole(entry) && entry->s->of_our_user;
}

static void new_value(struct sockets_epoll *set)
{
    if (set->value == 0 &&
        getrandom(&set->value, sizeof(set->value), GRND_NONBLOCK) != (ssize_t)sizeof(set->value))
        return;
    if (++set->value == 0)
        set->value = 1;
}

static void write_value(struct sockets_epoll *set)
{
    for (uint32_t i = 0; i < set->hot_count; i++) {
        struct sockets_entry *entry = set->hot[i];
        const bool shares = set->together && may_share(entry);

        sockets_stream_sleep_together(entry->s, shares ? set->value : 0);
    }
}

void sockets_epoll_join(struct sockets_epoll *set, int epfd)
{
    const bool before = set->together;

    set->together = !set->cold && set->sleepers == 1 && set->hot_count >= LEAST;
    if (!before && !set->together)
        return;
    if (set->together && set->owed < 0)
        sockets_epoll_add_owed(set, epfd);
    if (set->together)
        new_value(set);
    set->together = set->together && set->owed >= 0 && set->value != 0;
    write_value(set);
}

static bool has_news(const struct sockets_epoll *set)
{
    for (uint32_t i = 0; i < set->hot_count; i++)
        if (sockets_entry_has_news(set->hot[i]))
            return true;
    return false;
}

static void wake(struct sockets_epoll *set)
{
    const uint64_t one = 1;

    set->kicked = true;
    sockets_real.write(sockets_hidden_fd(set->owed), &one, sizeof(one));
}

void sockets_epoll_wake(struct sockets_epoll *set, int epfd)
{
    if (set->owed < 0)
        sockets_epoll_add_owed(set, epfd);
    if (set->sleepers > 0 && set->owed >= 0)
        wake(set);
}

void sockets_epoll_part(struct sockets_epoll *set)
{
    uint64_t count;

    if (set->together && set->sleepers == 0)
        for (uint32_t i = 0; i < set->hot_count; i++)
            sockets_stream_sleep_together(set->hot[i]->s, 0);
    if (!set->kicked || (set->sleepers > 0 && has_news(set))) /* it may have been another's */
        return;
    if (set->cold && set->hot_count > 0) /* what the eventfd says by itself */
        return;
    sockets_real.read(sockets_hidden_fd(set->owed), &count, sizeof(count));
    set->kicked = false;
}

void sockets_epoll_kick(struct sockets_epoll *set)
{
    if (!set->together || set->sleepers == 0)
        return;
    new_value(set);
    write_value(set);
    atomic_thread_fence(memory_order_seq_cst);
    if (has_news(set))
        wake(set);
}

bool sockets_entry_is_readable(struct sockets_entry *entry)
{
    const bool readable = sockets_stream_readable(entry->s, entry->via);

    if (sockets_stream_sleeps_together(entry->s))
        sockets_epoll_kick(entry->set);
    return readable;
}

void sockets_epoll_rouse(struct sockets_epoll *set, int epfd, const struct sockets_entry *entry)
{
    if (set->sleepers == 0 || set->cold || !entry->s->upgraded || !sockets_entry_has_news(entry))
        return;
    sockets_epoll_wake(set, epfd);
}

void sockets_entry_leave_together(struct sockets_entry *entry)
{
    if (entry->s->upgraded)
        sockets_stream_sleep_together(entry->s, 0);
    atomic_thread_fence(memory_order_seq_cst);
}
