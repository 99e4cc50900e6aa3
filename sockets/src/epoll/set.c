/* SPDX-License-Identifier: BSD-3-Clause
 *
 * set.c - epoll sets, and the connections in them.
 */
#include "epoll/internal.h"
#include "real/hidden.h"
#include "real/real.h"
#include "record/pause.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SETS = 1 << 16,    /* descriptors of sets */
    ENTRIES = 1 << 18, /* connections in sets */
    ADDRESS_BITS = 48, /* of a pointer */
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
    return epfd >= 0 && epfd < SETS ? atomic_load(&sets[epfd]) : NULL;
}

struct sockets_epoll *sockets_epoll_enter(int epfd)
{
    struct sockets_epoll *set;

    while ((set = sockets_epoll_find(epfd)) != NULL) {
        atomic_fetch_add(&set->users, 1);
        if (sockets_epoll_find(epfd) == set)
            return set;
        sockets_epoll_leave(set); /* it was closed, and may serve another descriptor */
    }
    return NULL;
}

int sockets_epoll_next(int epfd)
{
    const int last = atomic_load(&highest);

    for (int fd = epfd; fd <= last; fd++)
        if (atomic_load(&sets[fd]))
            return fd;
    return -1;
}

int sockets_epoll_descriptor(struct sockets_epoll *set)
{
    int fd = set->epfd;

    if (sockets_epoll_find(fd) == set)
        return fd;
    for (fd = -1; (fd = sockets_epoll_next(fd + 1)) >= 0;)
        if (sockets_epoll_find(fd) == set)
            return set->epfd = fd;
    return -1;
}

static void set_at(int epfd, struct sockets_epoll *set)
{
    int was = atomic_load(&highest);

    while (was < epfd && !atomic_compare_exchange_weak(&highest, &was, epfd))
        ;
    atomic_store(&sets[epfd], set);
}

static struct sockets_epoll *new_set(void)
{
    struct sockets_epoll *set = calloc(1, sizeof(*set));

    if (set)
        pthread_mutex_init(&set->lock, NULL);
    return set;
}

void sockets_epoll_add(int epfd)
{
    struct sockets_epoll *set;

    if (epfd < 0 || epfd >= SETS)
        return;
    sockets_epoll_closing(epfd); /* of a set that was closed behind our back */
    pthread_mutex_lock(&entries_lock);
    set = free_sets;
    if (set)
        free_sets = set->next_free;
    pthread_mutex_unlock(&entries_lock);
    if (!set && !(set = new_set()))
        return;
    set->descriptors = 1;
    set->owed = -1;
    set->epfd = epfd;
    set_at(epfd, set);
}

void sockets_epoll_copy(int epfd, int copy)
{
    struct sockets_epoll *set = copy >= 0 && copy < SETS ? sockets_epoll_enter(epfd) : NULL;

    if (!set)
        return;
    sockets_epoll_lock(set);
    if (set->descriptors > 0) { /* else another thread has just closed it */
        set->descriptors++;
        set_at(copy, set);
    }
    sockets_epoll_unlock(set);
    sockets_epoll_leave(set);
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

uint64_t sockets_entry_data(const struct sockets_entry *entry)
{
    return (uint64_t)(uintptr_t)entry | (uint64_t)entry->life << ADDRESS_BITS;
}

struct sockets_entry *sockets_entry_of(uint64_t data)
{
    static struct sockets_entry no_more;
    const uint64_t address = data & ((1ULL << ADDRESS_BITS) - 1);
    const uint64_t offset = address - (uint64_t)(uintptr_t)arena;
    struct sockets_entry *entry;

    if (!arena || offset >= ENTRIES * sizeof(*arena) || offset % sizeof(*arena) != 0)
        return NULL;
    entry = &arena[offset / sizeof(*arena)];
    return sockets_entry_data(entry) == data ? entry : &no_more;
}

/* ---- removing -------------------------------------------------------------- */

/* Out of the stream's list. */
void sockets_entry_free(struct sockets_epoll *set, struct sockets_entry *entry)
{
    struct sockets_entry **at = &entry->s->entries;

    sockets_defer_forget(set, entry);
    if (entry->waker_fd != 0)
        sockets_entry_remove_waker(entry, sockets_epoll_descriptor(set));
    pthread_mutex_lock(&entries_lock);
    while (*at && *at != entry)
        at = &(*at)->next;
    if (*at)
        *at = entry->next;
    set->count--;
    entry->set = NULL;
    entry->s = NULL;
    entry->next = free_entries;
    free_entries = entry;
    pthread_mutex_unlock(&entries_lock);
}

/* With the set's lock: out of the set. */
void sockets_entry_remove(struct sockets_epoll *set, struct sockets_entry *entry)
{
    sockets_entry_forget_hot(set, entry);
    sockets_entry_leave_together(entry);
    sockets_entry_disarm(entry);
    sockets_entry_free(set, entry);
    sockets_epoll_kick(set);
}

/* The entry of a stream with so many before it, or NULL, and its set. */
static struct sockets_entry *entry_behind(struct sockets_stream *s, int n,
                                          struct sockets_epoll **set)
{
    struct sockets_entry *entry;

    pthread_mutex_lock(&entries_lock);
    for (entry = s->entries; entry && n > 0; entry = entry->next)
        n--;
    *set = entry ? entry->set : NULL;
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

static struct sockets_entry *first_entry(struct sockets_stream *s, struct sockets_epoll **set)
{
    return entry_behind(s, 0, set);
}

/* The kernel hears of what was deferred of the entry while its descriptor is open; that may be the
 * end of it. */
static void settle(struct sockets_epoll *set, const struct sockets_entry *entry,
                   const struct sockets_stream *s)
{
    if (entry->set == set && entry->s == s && entry->deferred)
        sockets_defer_no_more(set, sockets_epoll_descriptor(set));
}

void sockets_epoll_forget(struct sockets_stream *s)
{
    struct sockets_epoll *set;
    struct sockets_entry *entry;

    while ((entry = first_entry(s, &set)) != NULL) {
        sockets_epoll_lock(set);
        settle(set, entry, s); /* another process may have it still */
        if (entry->set == set && entry->s == s)
            sockets_entry_remove(set, entry);
        sockets_epoll_unlock(set);
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
        sockets_epoll_lock(set);
        settle(set, entry, s);
        if (entry->set == set && entry->s == s)
            entry->via = other;
        sockets_epoll_unlock(set);
    }
}

void sockets_epoll_remove_wakers(struct sockets_epoll *set, int epfd)
{
    for (uint32_t i = 0; i < used_entries; i++)
        if (arena[i].set == set)
            sockets_entry_remove_waker(&arena[i], epfd);
}

/* Nobody uses it, and nobody finds it. */
static void free_set(struct sockets_epoll *set)
{
    sockets_hidden_close(set->owed);
    pthread_mutex_lock(&entries_lock);
    if (set->nobody) {
        set->nobody->next = free_entries;
        free_entries = set->nobody;
    }
    memset((char *)set + offsetof(struct sockets_epoll, sleepers), 0,
           sizeof(*set) - offsetof(struct sockets_epoll, sleepers));
    set->next_free = free_sets;
    free_sets = set;
    pthread_mutex_unlock(&entries_lock);
}

void sockets_epoll_leave(struct sockets_epoll *set)
{
    if (atomic_fetch_sub(&set->users, 1) == 1 && atomic_exchange(&set->ended, false)) {
        const int error = errno;
        free_set(set);
        errno = error;
    }
}

static void close_set(struct sockets_epoll *set, int epfd)
{
    bool last;

    sockets_epoll_lock(set);
    last = --set->descriptors == 0;
    /* Copies stay, and another process may have it by means that are not seen here. */
    sockets_defer_no_more(set, last ? epfd : sockets_epoll_descriptor(set));
    if (last)
        sockets_epoll_remove_wakers(set, epfd);
    for (uint32_t i = 0; last && i < used_entries; i++)
        if (arena[i].set == set)
            sockets_entry_remove(set, &arena[i]);
    sockets_epoll_unlock(set);
    if (last) {
        sockets_epoll_give_up(set);
        atomic_store(&set->ended, true);
    }
}

void sockets_epoll_closing(int epfd)
{
    struct sockets_epoll *const set = sockets_epoll_enter(epfd);
    struct sockets_epoll *found = set;

    if (!set)
        return;
    if (atomic_compare_exchange_strong(&sets[epfd], &found, NULL)) /* nobody else closes it */
        close_set(set, epfd);
    sockets_epoll_leave(set);
}

struct sockets_entry *sockets_entry_find(struct sockets_epoll *set, int fd,
                                         struct sockets_stream *s)
{
    struct sockets_entry *entry;

    pthread_mutex_lock(&entries_lock);
    for (entry = s->entries; entry; entry = entry->next)
        if (entry->set == set && entry->fd == fd)
            break;
    pthread_mutex_unlock(&entries_lock);
    return entry;
}

void sockets_entry_link(struct sockets_epoll *set, struct sockets_entry *entry, int fd,
                        struct sockets_stream *s)
{
    pthread_mutex_lock(&entries_lock);
    *entry = (struct sockets_entry){.set = set,
                                    .s = s,
                                    .fd = fd,
                                    .via = fd,
                                    .life = (uint16_t)(entry->life + 1),
                                    .next = s->entries};
    s->entries = entry;
    set->count++;
    pthread_mutex_unlock(&entries_lock);
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
    sockets_epoll_lock(set);
    idle = set->sleepers == 0 && s->entries == entry && !entry->next;
    if (idle) {
        attach(argument);
        sockets_entry_make_hot(entry);
    }
    sockets_epoll_unlock(set);
    return idle;
}

static void kick(struct sockets_epoll *set)
{
    sockets_epoll_lock(set);
    sockets_epoll_kick(set);
    sockets_epoll_unlock(set);
}

void sockets_epoll_taken(struct sockets_stream *s)
{
    struct sockets_epoll *set;

    if (first_entry(s, &set))
        kick(set);
}

void sockets_epoll_part_others(struct sockets_epoll *set, struct sockets_stream *s)
{
    struct sockets_epoll *other;

    for (int n = 0; entry_behind(s, n, &other); n++)
        if (other != set)
            kick(other);
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

void sockets_epoll_for_each(void (*do_it)(struct sockets_epoll *))
{
    for (int fd = -1; (fd = sockets_epoll_next(fd + 1)) >= 0;) {
        struct sockets_epoll *set = sockets_epoll_enter(fd);

        if (!set)
            continue;
        if (sockets_epoll_descriptor(set) == fd)
            do_it(set);
        sockets_epoll_leave(set);
    }
}

/* What the parent has armed is the parent's; the child looks at all of them again. */
static void reset(struct sockets_epoll *set)
{
    pthread_mutex_init(&set->lock, NULL);
    set->users = 1; /* this thread */
    set->sleepers = set->roomy = set->stuck = 0;
    set->hot_count = 0;
    set->together = set->kicked = false;
    set->shared = set->inherited = true;
}

void sockets_epoll_lock_all(void)
{
    pthread_mutex_lock(&entries_lock);
}

void sockets_epoll_unlock_all(void)
{
    pthread_mutex_unlock(&entries_lock);
}

void sockets_epoll_after_fork(bool is_child)
{
    sockets_epoll_forked(is_child);
    if (!is_child) {
        sockets_epoll_for_each(kick); /* a child may take the wake-up of the parent's sleeper */
        return;
    }
    pthread_mutex_init(&entries_lock, NULL);
    sockets_epoll_for_each(reset);
    for (uint32_t i = 0; i < used_entries; i++) {
        arena[i].armed = arena[i].hot = arena[i].dozes = false;
        if (arena[i].set && (!arena[i].s || atomic_load(&arena[i].s->fds) == 0))
            arena[i].set = NULL; /* its stream was being closed, and stayed in the parent */
        if (arena[i].set && !arena[i].removed)
            sockets_entry_make_hot(&arena[i]);
    }
}
