/* SPDX-License-Identifier: BSD-3-Clause
 *
 * order.c - what a set tells of, in the order in which it happened.
 *
 * The kernel's set tells first of what happened first; what it has told of once and is ready still
 * comes behind what was ready then.  Connections with rings take part in that by two times that
 * their senders write down (stream/order.c): when their data began to be unread (their key, unless
 * they were told of later), and when their sender's process had last used the kernel.  So
 *
 * - what the kernel has to tell comes first if a sender used it before its data: who finds such
 *   data in a ring asks the kernel before it tells of it (`asked_at`);
 * - rings are looked at one after the other, and what comes meanwhile may follow what was missed in
 *   one already looked at: after data was found the others are looked at once more, for what is
 *   older than the latest of it.
 *
 * The kernel looks only when it is asked again whether a file that it has told of is ready still,
 * and a file that becomes ready before that has the place in its list that it had: who has been
 * told of one asks again at the next wait, as if all were with the kernel (`listed`).
 *
 * What is left out, as more is ready than the program asks for, keeps its place, and what is told
 * comes behind it.  Connections have a time for that; of the kernel's files it is remembered as
 * long as some were left out (`left`).
 *
 * The peer's times are believed as far as the order goes, and no further.
 */
#include "epoll/internal.h"
#include "record/pause.h"
#include <stdlib.h>

enum { INSERT = 32 }; /* so many are sorted by insertion: they are nearly sorted */

static const uint32_t DATA = EPOLLIN | EPOLLRDNORM;

struct sockets_found {
    struct sockets_entry *entry;
    uint64_t key;
    uint64_t arrived;
    uint32_t events;
    bool follows; /* its sender has used another file since the kernel was last asked */
};

/* One of the kernel's. */
struct sockets_ready {
    struct epoll_event event;
    uint64_t key;   /* or 0: when it happened is not known */
    uint64_t rank;  /* of what was among those before, when some were left out; others follow */
    uint32_t place; /* in the kernel's order */
};

/* One of the kernel's when some of them were left out: which has its turn when.  Such as were told
 * come behind the others then, as in the kernel, which does not know who was left out. */
struct sockets_left {
    uint64_t data;
    uint64_t key; /* or 0: found again */
};

/* One of what is told, or, as far as it is not lost by that, left to be told later. */
struct sockets_told {
    struct epoll_event event;
    const struct sockets_found *found; /* or NULL: the kernel's, at this place */
    uint32_t place;
    uint64_t key;
    bool dropped;
};

/* A peer may say that its data came later than anything. */
static uint64_t key_of(const struct sockets_entry *entry)
{
    const uint64_t since = sockets_stream_since(entry->s);
    const uint64_t key = since > entry->told_at ? since : entry->told_at;

    return key < UINT64_MAX ? key : UINT64_MAX - 1;
}

/* ---- rings ------------------------------------------------------------------------------- */

void sockets_order_begin(struct sockets_epoll *set)
{
    set->scan++;
    set->found_count = 0;
    set->unsure = set->late = false;
}

bool sockets_order_make_room(struct sockets_epoll *set, uint32_t room)
{
    struct sockets_found *found = realloc(set->found, room * sizeof(*found));

    if (found)
        set->found = found;
    return found != NULL;
}

/* The events of an entry that has news. */
static uint32_t ring_events(struct sockets_epoll *set, const struct sockets_entry *entry, bool data)
{
    const uint32_t events = data ? entry->events & DATA : 0;

    if (!(entry->events & SOCKETS_SPACE))
        return events;
    if (sockets_stream_has_space(entry->s))
        return events | (entry->events & SOCKETS_SPACE);
    set->unsure = true;
    return events;
}

/* It has space and no data: nobody but this process and the peer may have done what the kernel
 * would tell of before. */
static void look_at_space(struct sockets_epoll *set, const struct sockets_entry *entry)
{
    if (sockets_stream_kernel_at(entry->s) > set->asked_at ||
        sockets_stream_own_kernel_at() > set->asked_at ||
        (sockets_entry_wants_data(entry) && sockets_stream_hint(entry->s)))
        set->unsure = true;
}

static void look_at(struct sockets_epoll *set, struct sockets_entry *entry, uint64_t most,
                    uint64_t known)
{
    uint64_t at, key, arrived;
    bool data;

    if (entry->scan == set->scan)
        return;
    arrived = sockets_stream_arrived(entry->s);
    data = sockets_entry_has_data(entry);
    if (!data && !sockets_entry_has_space(entry)) {
        if (sockets_stream_hint(entry->s) && !sockets_stream_has_data(entry->s))
            set->unsure = true; /* it may be readable by TCP */
        return;
    }
    key = data ? key_of(entry) : entry->told_at;
    at = sockets_stream_kernel_at(entry->s);
    if (!data) {
        look_at_space(set, entry);
    } else if (at > set->asked_at && sockets_stream_since(entry->s) > set->asked_at &&
               key >= known) {
        set->unsure = set->late = true;
        return;
    }
    if (key > most)
        return;
    entry->scan = set->scan;
    entry->idle = 0;
    set->found[set->found_count++] = (struct sockets_found){
        .entry = entry,
        .key = key,
        .arrived = arrived,
        .events = ring_events(set, entry, data),
        .follows = data && sockets_stream_other_at(entry->s) > set->asked_before};
}

void sockets_order_look(struct sockets_epoll *set, uint64_t most, uint64_t known)
{
    for (uint32_t i = 0; i < set->hot_count; i++)
        look_at(set, set->hot[i], most, known);
}

uint64_t sockets_order_latest(const struct sockets_epoll *set)
{
    uint64_t latest = 0;

    for (uint32_t i = 0; i < set->found_count; i++)
        if (set->found[i].key > latest)
            latest = set->found[i].key;
    return latest;
}

/* ---- the kernel's -------------------------------------------------------------------------- */

/* When it happened, or 0 if that is not known. */
static uint64_t kernels_key(const struct epoll_event *event)
{
    const struct sockets_entry *entry = sockets_entry_of(event->data.u64);

    return entry && entry->s && entry->s->upgraded && (event->events & (DATA | EPOLLRDHUP))
               ? key_of(entry)
               : 0;
}

uint64_t sockets_order_kernels_latest(const struct epoll_event *events, int n)
{
    uint64_t latest = 0;

    for (int i = 0; i < n; i++) {
        const uint64_t key = kernels_key(&events[i]);

        if (key > latest)
            latest = key;
    }
    return latest;
}

/* ---- both ---------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct sockets_found *x = a, *y = b;

    return x->key < y->key ? -1 : x->key > y->key;
}

static void sort(struct sockets_found *found, uint32_t count)
{
    if (count > INSERT) {
        qsort(found, count, sizeof(*found), compare);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        const struct sockets_found one = found[i];
        uint32_t at = i;

        for (; at > 0 && found[at - 1].key > one.key; at--)
            found[at] = found[at - 1];
        found[at] = one;
    }
}

/* How many of the kernel's come before what was found in a ring: those before the first that is
 * known to be later, and those of no known time only if the sender may have done them. */
static int kernels_before(const struct sockets_found *found, const struct sockets_ready *ready,
                          int n, int least)
{
    int before = least;

    while (before < n && ready[before].key <= found->key)
        before++;
    while (!found->follows && before > least && ready[before - 1].key == 0)
        before--;
    return before;
}

static bool make_told(struct sockets_epoll *set, uint32_t room)
{
    struct sockets_told *told;
    struct sockets_ready *ready;
    struct sockets_left *left;

    if (room <= set->told_room)
        return true;
    if ((told = realloc(set->told, room * sizeof(*told))))
        set->told = told;
    if ((ready = realloc(set->ready, room * sizeof(*ready))))
        set->ready = ready;
    if ((left = realloc(set->left, room * sizeof(*left))))
        set->left = left;
    if (!told || !ready || !left)
        return false;
    set->told_room = room;
    return true;
}

/* When it has its turn, or 0.  Several files may have the same data, and the kernel tells of what
 * stays ready in the same order: the search goes on behind what was found before. */
static uint64_t find_left(struct sockets_epoll *set, uint64_t data, uint32_t *from)
{
    for (uint32_t i = 0; i < set->left_count; i++) {
        const uint32_t at = (*from + i) % set->left_count;
        const uint64_t key = set->left[at].key;

        if (key == 0 || set->left[at].data != data)
            continue;
        set->left[at].key = 0;
        *from = at + 1;
        return key;
    }
    return 0;
}

static int compare_ready(const void *a, const void *b)
{
    const struct sockets_ready *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

/* The kernel's events, with those first that have their turn because some were left out. */
static void make_ready(struct sockets_epoll *set, const struct epoll_event *kernels, int n)
{
    uint32_t from = 0;

    for (int i = 0; i < n; i++) {
        const uint64_t left = find_left(set, kernels[i].data.u64, &from);
        uint64_t key = kernels_key(&kernels[i]);

        key = key > left ? key : left;
        set->ready[i] = (struct sockets_ready){
            kernels[i], .key = key, .rank = left ? key : UINT64_MAX, .place = (uint32_t)i};
    }
    if (set->left_count > 0)
        qsort(set->ready, (size_t)n, sizeof(*set->ready), compare_ready);
}

/* The last ones are left out until the rest fits: those of rings, and the kernel's unless some are
 * told of but once.  The kernel is asked for more than fits of a set without such; one may have
 * come into it since.  Whether there are any of the kernel's, which is to be asked again then. */
static bool leave_out(struct sockets_epoll *set, uint32_t count, uint32_t kernels, uint32_t most)
{
    const bool again = !set->edges || kernels > most;
    bool any = false;

    for (uint32_t i = count; count > most && i-- > 0;)
        if (set->told[i].found || again) {
            set->told[i].dropped = true;
            any |= !set->told[i].found;
            count--;
        }
    return any;
}

static struct sockets_told told_of(const struct sockets_ready *ready)
{
    return (struct sockets_told){.event = ready->event, .place = ready->place, .key = ready->key};
}

static uint32_t put_in_order(struct sockets_epoll *set, int n)
{
    uint32_t count = 0;
    int next = 0;

    for (uint32_t i = 0; i < set->found_count; i++) {
        const struct sockets_found *found = &set->found[i];
        const int before = kernels_before(found, set->ready, n, next);

        while (next < before)
            set->told[count++] = told_of(&set->ready[next++]);
        set->told[count++] = (struct sockets_told){
            .event = {.events = found->events, .data.u64 = sockets_entry_data(found->entry)},
            .found = found,
            .key = found->key};
    }
    while (next < n)
        set->told[count++] = told_of(&set->ready[next++]);
    return count;
}

/* The program gets its own data instead of our entry. */
static void tell(struct sockets_epoll *set, struct epoll_event *event, uint64_t at)
{
    struct sockets_entry *entry = sockets_entry_of(event->data.u64);

    if (!entry || entry->set != set)
        return;
    event->data = entry->data;
    entry->told = entry->events & EPOLLONESHOT;
    entry->told_at = at;
}

/* There is nothing else, or no memory: then rings are told of another time. */
static int tell_kernels(struct sockets_epoll *set, const struct epoll_event *kernels, int n,
                        struct epoll_event *events, int max, uint64_t now)
{
    set->left_count = 0;
    n = n < max ? n : max;
    for (int i = 0; i < n; i++) {
        events[i] = kernels[i];
        tell(set, &events[i], now ? now + (uint64_t)i : 0);
    }
    return n;
}

/* One that is left out keeps its place, and comes before all that is told of now, whatever times
 * peers have written down. */
static uint64_t turn_of(const struct sockets_told *one, uint64_t latest, uint64_t now, int told)
{
    const uint64_t key = one->key > latest ? one->key : latest;

    return !one->dropped ? now + (uint64_t)told : key < now ? key : now;
}

int sockets_order_tell(struct sockets_epoll *set, const struct epoll_event *kernels, int n,
                       struct epoll_event *events, int max)
{
    const uint64_t now =
        n > 0 || (set->found_count > 0 && set->hot_count > 1) ? sockets_now_ns() : 0;
    uint64_t latest = 1; /* times of what came before are earlier */
    uint32_t count;
    int told = 0;

    set->told_at = now;
    if ((set->found_count == 0 && set->left_count == 0 && n <= max) ||
        !make_told(set, set->found_count + (uint32_t)n))
        return tell_kernels(set, kernels, n, events, max, now);
    sort(set->found, set->found_count);
    make_ready(set, kernels, n);
    count = put_in_order(set, n);
    set->left_count = leave_out(set, count, (uint32_t)n, (uint32_t)max) ? (uint32_t)n : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct sockets_told *one = &set->told[i];

        if (!one->found)
            set->left[one->place] =
                (struct sockets_left){one->event.data.u64, turn_of(one, latest, now, told)};
        latest = one->key >= latest ? one->key + (one->found != NULL) : latest;
        if (one->dropped)
            continue;
        if (one->found)
            one->found->entry->seen = one->found->arrived;
        events[told] = one->event;
        tell(set, &events[told], now ? now + (uint64_t)told : 0); /* in this order again */
        told++;
    }
    return told;
}
