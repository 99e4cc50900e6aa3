/* SPDX-License-Identifier: BSD-3-Clause
 *
 * set.c - epoll sets, and the connections in them.
 */
#include "epoll/internal.h"
#include "real/hidden.h"
#include "real/real.h"
#include "record/pause.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    SETS = 1 << 16,    /* descriptors of sets */
    ENTRIES = 1 << 18, /* connections in sets */
};

static struct sockets_epoll *_Atomic sets[SETS];
static _Atomic int highest = -1;

/* The list of each stream, and what is free of entries and sets. */
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sockets_entry *arena, *free_entries;
static uint32_t used_entries;
static struct sockets_epoll *free_sets;

/* ---- sets ------------------------------------------------------------------------- */

struct sockets_epoll *sockets_epoll_find(int epfd)
{
    return epfd >= 0 && epfd < SETS ? atomic_load_explicit(&sets[epfd], memory_order_acquire)
                                    : NULL;
}

static void set_at(int epfd, struct sockets_epoll *set)
{
    int was = atomic_load(&highest);

    while (was < epfd && !atomic_compare_exchange_weak(&highest, &was, epfd))
        ;
    atomic_store(&sets[epfd], set);
}

void sockets_epoll_add(int epfd)
{
    struct sockets_epoll *set, old = {0};

    if (epfd < 0 || epfd >= SETS)
        return;
    sockets_epoll_closing(epfd); /* of a set that was closed behind our back */
    pthread_mutex_lock(&entries_lock);
    set = free_sets;
    if (set) {
        free_sets = set->next_free;
        old = *set;
    }
    pthread_mutex_unlock(&entries_lock);
    if (!set && !(set = malloc(sizeof(*set))))
        return;
    *set = (struct sockets_epoll){.lock = PTHREAD_MUTEX_INITIALIZER,
                                  .descriptors = 1,
                                  .owed = -1,
                                  .hot = old.hot,
                                  .hot_room = old.hot_room,
                                  .found = old.found,
                                  .told = old.told,
                                  .told_room = old.told_room};
    set_at(epfd, set);
}

void sockets_epoll_copy(int epfd, int copy)
{
    struct sockets_epoll *set = sockets_epoll_find(epfd);

    if (!set || copy < 0 || copy >= SETS)
        return;
    pthread_mutex_lock(&set->lock);
    set->descriptors++;
    pthread_mutex_unlock(&set->lock);
    set_at(copy, set);
}

/* ---- entries ---------------------------------------------------------------------- */

struct sockets_entry *sockets_entry_new(void)
{
    struct sockets_entry *entry = NULL;

    pthread_mutex_lock(&entries_lock);
    if (!arena) {
        void *p = mmap(NULL, ENTRIES * sizeof(*arena), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        arena = p == MAP_FAILED ? NULL : p;
    }
    if (free_entries) {
        entry = free_entries;
        free_entries = entry->next;
    } else if (arena && used_entries < ENTRIES) {
        entry = &arena[used_entries++];
    }
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

/* What the kernel's user data is, if it is an entry of ours. */
struct sockets_entry *sockets_entry_of(uint64_t data)
{
    const uint64_t offset = data - (uint64_t)(uintptr_t)arena;

    return arena && offset < ENTRIES * sizeof(*arena) && offset % sizeof(*arena) == 0
               ? &arena[offset / sizeof(*arena)]
               : NULL;
}

/* ---- adding and removing -------------------------------------------------------------- */

/* With the set's lock: out of the set, and out of the stream's list. */
static void remove_entry(struct sockets_epoll *set, struct sockets_entry *entry)
{
    struct sockets_entry **at = &entry->s->entries;

    sockets_entry_forget_hot(set, entry);
    sockets_entry_leave_together(entry);
    sockets_entry_disarm(entry);
    pthread_mutex_lock(&entries_lock);
    while (*at && *at != entry)
        at = &(*at)->next;
    if (*at)
        *at = entry->next;
    entry->set = NULL;
    entry->s = NULL;
    entry->next = free_entries;
    free_entries = entry;
    pthread_mutex_unlock(&entries_lock);
    sockets_epoll_kick(set);
}

static struct sockets_entry *first_entry(struct sockets_stream *s, struct sockets_epoll **set)
{
    struct sockets_entry *entry;

    pthread_mutex_lock(&entries_lock);
    entry = s->entries;
    *set = entry ? entry->set : NULL;
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

void sockets_epoll_forget(struct sockets_stream *s)
{
    struct sockets_epoll *set;
    struct sockets_entry *entry;

    while ((entry = first_entry(s, &set)) != NULL) {
        pthread_mutex_lock(&set->lock);
        if (entry->set == set && entry->s == s)
            remove_entry(set, entry);
        pthread_mutex_unlock(&set->lock);
    }
}

/* An entry of the stream that goes by a descriptor, and its set. */
static struct sockets_entry *entry_via(struct sockets_stream *s, int fd, struct sockets_epoll **set)
{
    struct sockets_entry *entry;

    pthread_mutex_lock(&entries_lock);
    for (entry = s->entries; entry && entry->via != fd; entry = entry->next)
        ;
    *set = entry ? entry->set : NULL;
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

void sockets_epoll_move(struct sockets_stream *s, int fd, int other)
{
    struct sockets_epoll *set;
    struct sockets_entry *entry;

    while ((entry = entry_via(s, fd, &set)) != NULL) {
        pthread_mutex_lock(&set->lock);
        if (entry->set == set && entry->s == s)
            entry->via = other;
        pthread_mutex_unlock(&set->lock);
    }
}

void sockets_epoll_closing(int epfd)
{
    struct sockets_epoll *set = sockets_epoll_find(epfd);
    bool last;

    if (!set)
        return;
    atomic_store(&sets[epfd], NULL);
    pthread_mutex_lock(&set->lock);
    last = --set->descriptors == 0;
    for (uint32_t i = 0; last && i < used_entries; i++)
        if (arena[i].set == set)
            remove_entry(set, &arena[i]);
    last = last && set->sleepers == 0; /* else another thread will still look at it */
    if (last) {
        sockets_hidden_close(set->owed);
        set->owed = -1;
    }
    pthread_mutex_unlock(&set->lock);
    if (!last)
        return;
    pthread_mutex_lock(&entries_lock);
    if (set->nobody) {
        set->nobody->next = free_entries;
        free_entries = set->nobody;
    }
    set->next_free = free_sets;
    free_sets = set;
    pthread_mutex_unlock(&entries_lock);
}

static struct sockets_entry *find_entry(struct sockets_epoll *set, int fd, struct sockets_stream *s)
{
    struct sockets_entry *entry;

    pthread_mutex_lock(&entries_lock);
    for (entry = s->entries; entry; entry = entry->next)
        if (entry->set == set && entry->fd == fd)
            break;
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

static void link_entry(struct sockets_epoll *set, struct sockets_entry *entry, int fd,
                       struct sockets_stream *s)
{
    pthread_mutex_lock(&entries_lock);
    *entry = (struct sockets_entry){.set = set, .s = s, .fd = fd, .via = fd, .next = s->entries};
    s->entries = entry;
    pthread_mutex_unlock(&entries_lock);
}

static int add(struct sockets_epoll *set, int epfd, int fd, struct sockets_stream *s,
               const struct epoll_event *event)
{
    struct sockets_entry *entry = sockets_entry_new();
    struct epoll_event ours = {.events = event->events, .data.ptr = entry};

    if (!entry) {
        errno = ENOMEM;
        return -1;
    }
    link_entry(set, entry, fd, s);
    entry->events = event->events;
    entry->data = event->data;
    entry->told_at = sockets_now_ns();
    if (sockets_real.epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ours) < 0) {
        const int error = errno;
        remove_entry(set, entry);
        errno = error;
        return -1;
    }
    sockets_entry_make_hot(entry);
    return 0;
}

static int modify(struct sockets_epoll *set, int epfd, int fd, struct sockets_stream *s,
                  const struct epoll_event *event)
{
    struct sockets_entry *entry = find_entry(set, fd, s);
    struct epoll_event ours = {.events = event->events, .data.ptr = entry};

    if (!entry)
        return sockets_real.epoll_ctl(epfd, EPOLL_CTL_MOD, fd, (struct epoll_event *)event);
    if (sockets_real.epoll_ctl(epfd, EPOLL_CTL_MOD, fd, &ours) < 0)
        return -1;
    entry->events = event->events;
    entry->data = event->data;
    entry->told = false;
    entry->seen = SOCKETS_UNKNOWN;
    if (!sockets_entry_wants_data(entry))
        sockets_entry_forget_hot(set, entry);
    sockets_entry_make_hot(entry);
    sockets_epoll_kick(set);
    return 0;
}

static void note_edges(struct sockets_epoll *set, const struct epoll_event *event)
{
    if (event->events & (EPOLLET | EPOLLONESHOT | EPOLLEXCLUSIVE))
        set->edges = true;
}

void sockets_epoll_note(struct sockets_epoll *set, const struct epoll_event *event)
{
    pthread_mutex_lock(&set->lock);
    note_edges(set, event);
    pthread_mutex_unlock(&set->lock);
}

int sockets_epoll_ctl(struct sockets_epoll *set, int epfd, int op, int fd, struct sockets_stream *s,
                      struct epoll_event *event)
{
    struct sockets_entry *entry;
    int result;

    pthread_mutex_lock(&set->lock);
    if (event && op != EPOLL_CTL_DEL)
        note_edges(set, event);
    if (op == EPOLL_CTL_ADD && event) {
        result = add(set, epfd, fd, s, event);
    } else if (op == EPOLL_CTL_MOD && event) {
        result = modify(set, epfd, fd, s, event);
    } else {
        result = sockets_real.epoll_ctl(epfd, op, fd, event);
        if (result == 0 && (entry = find_entry(set, fd, s)) != NULL)
            remove_entry(set, entry);
    }
    if (set->cold)
        sockets_epoll_settle(set);
    pthread_mutex_unlock(&set->lock);
    return result;
}

bool sockets_epoll_upgrade(struct sockets_stream *s, void (*attach)(void *), void *argument)
{
    struct sockets_epoll *set;
    struct sockets_entry *entry = first_entry(s, &set);
    bool idle;

    if (!entry) {
        attach(argument);
        return true;
    }
    pthread_mutex_lock(&set->lock);
    idle = set->sleepers == 0 && s->entries == entry && !entry->next;
    if (idle) {
        attach(argument);
        sockets_entry_make_hot(entry);
    }
    pthread_mutex_unlock(&set->lock);
    return idle;
}

void sockets_epoll_taken(struct sockets_stream *s)
{
    struct sockets_epoll *set;

    if (!first_entry(s, &set))
        return;
    pthread_mutex_lock(&set->lock);
    sockets_epoll_kick(set);
    pthread_mutex_unlock(&set->lock);
}

void sockets_epoll_state_changed(struct sockets_stream *s)
{
    struct sockets_entry *entry;

    pthread_mutex_lock(&entries_lock);
    for (entry = s->entries; entry; entry = entry->next)
        atomic_store(&entry->seen, SOCKETS_UNKNOWN);
    pthread_mutex_unlock(&entries_lock);
}

/* ---- fork ------------------------------------------------------------------------- */

static void for_each_set(void (*do_it)(struct sockets_epoll *))
{
    const int last = atomic_load(&highest);

    for (int fd = 0; fd <= last; fd++) {
        struct sockets_epoll *set = atomic_load(&sets[fd]);

        if (set)
            do_it(set);
    }
}

/* What the parent has armed is the parent's; the child looks at all of them again. */
static void reset(struct sockets_epoll *set)
{
    pthread_mutex_init(&set->lock, NULL);
    set->sleepers = 0;
    set->hot_count = 0;
    set->together = set->kicked = false;
}

void sockets_epoll_before_fork(void)
{
    pthread_mutex_lock(&entries_lock);
}

/* A child may take the wake-up of the parent's sleeper. */
static void share_no_more(struct sockets_epoll *set)
{
    pthread_mutex_lock(&set->lock);
    sockets_epoll_kick(set);
    pthread_mutex_unlock(&set->lock);
}

void sockets_epoll_after_fork(bool is_child)
{
    pthread_mutex_unlock(&entries_lock);
    if (!is_child) {
        for_each_set(share_no_more);
        return;
    }
    for_each_set(reset);
    for (uint32_t i = 0; i < used_entries; i++) {
        arena[i].armed = arena[i].hot = false;
        if (arena[i].set)
            sockets_entry_make_hot(&arena[i]);
    }
}
