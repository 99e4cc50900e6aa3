/* SPDX-License-Identifier: BSD-3-Clause
 *
 * internal.h - what the files of epoll share: sets and their entries.
 */
#ifndef SOCKETS_EPOLL_INTERNAL_H
#define SOCKETS_EPOLL_INTERNAL_H

#include "epoll/epoll.h"
#include <pthread.h>
#include <sys/single_threaded.h>

/* A connection in a set.  Its address and its life are the kernel's user data of it. */
struct sockets_entry {
    struct sockets_epoll *set; /* NULL: unused */
    struct sockets_stream *s;
    struct sockets_entry *next; /* of the stream, or free */
    epoll_data_t data;
    _Atomic uint64_t seen; /* of the stream's arrivals, when they were last told (EPOLLET) */
    uint32_t events;
    uint32_t kernels; /* events that the kernel's set has of it; its own if none are deferred */
    int fd;           /* by which it came into the set */
    int via;          /* by which it is reached now */
    uint16_t life;    /* counts what it was before: of that the kernel may have told, too */
    uint32_t idle;
    uint32_t withheld; /* of the stream's, for which the kernel was asked again (withheld.c) */
    int waker_fd;      /* of the waker in the kernel's set, or 0 (doze.c) */
    bool hot, armed;
    bool dozes;    /* the sender wakes the set by the waker */
    bool deferred; /* the kernel is still to be told of a change (defer.c) ... */
    bool removed;  /* ... of which one is that it is in the set no more */
    struct sockets_entry *next_deferred;
    bool told;        /* EPOLLONESHOT, until it is modified */
    uint64_t told_at; /* or when it came into the set */
    uint64_t scan;    /* in which it is already among what is told */
};

struct sockets_epoll {
    /* Who found the set by its descriptor may look at these although it is closed meanwhile,
     * and serves another descriptor. */
    pthread_mutex_t lock;
    _Atomic uint32_t users;
    _Atomic bool ended; /* the last user frees it */
    int cancel_state;   /* of who has the lock, before */

    /* Memory, which the next descriptor's set has, too. */
    uint32_t hot_room, told_room;
    struct sockets_entry **hot;
    struct sockets_found *found; /* has room for all that are hot */
    struct sockets_told *told;   /* these have so much room each ... */
    struct sockets_ready *ready;
    struct sockets_left *left; /* ... with what the kernel had when some of it was left out */

    /* All from here on is new then. */
    uint32_t sleepers, turn;
    uint32_t roomy; /* threads in the kernel that ask for more events than the program does ... */
    uint32_t stuck; /* ... and those for which an edge has waited in vain: they were cancelled */
    uint32_t descriptors;
    bool cold;
    struct sockets_epoll *next_free;
    int owed;                     /* the slot of its eventfd, or -1 */
    struct sockets_entry *nobody; /* what the eventfd is in the kernel's set: an entry of no set */
    bool together;                /* its connections share a wake-up ... */
    bool kicked;                  /* ... and that was given by the eventfd */
    uint64_t value;
    uint32_t count; /* of its entries */
    uint32_t hot_count;
    bool by_tcp;               /* several threads have slept in it: TCP wakes them (doze.c) */
    bool edges;                /* something has ever been told of by edges, or once */
    bool shared;               /* with other processes, when that was last looked at (share.c) */
    bool inherited, disturbed; /* it came from a parent; and is not as that has left it */
    _Atomic uint32_t *_Atomic holders; /* how many have it, if it ever was; NULL: nobody knows */
    struct sockets_entry *deferred, *last_deferred; /* what the kernel is not yet told of */
    int epfd;                                       /* a descriptor of its that was open last */
    uint64_t told_at;                               /* when something was told of last */
    uint64_t asked_at, asked_before;                /* the kernel: all before this time is known */
    uint64_t scan;                                  /* counts collections (order.c) ... */
    _Atomic bool far;  /* connections are carried from other hosts; for who has no lock, too */
    bool by_kernel;    /* what came last was from other files than rings */
    bool listed;       /* the kernel has told of files, and lists them until it is asked again */
    bool blind;        /* the kernel cannot be asked again of something withheld (withheld.c) */
    bool unsure, late; /* ... of which one needs the kernel's events, or those since it was asked */
    uint32_t found_count, left_count;
};

/* Who has the lock is not cancelled: some calls beneath are points of cancellation. */
static inline void sockets_epoll_lock(struct sockets_epoll *set)
{
    int before = PTHREAD_CANCEL_DISABLE;

    if (!__libc_single_threaded)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&set->lock);
    set->cancel_state = before;
}

static inline void sockets_epoll_unlock(struct sockets_epoll *set)
{
    const int before = set->cancel_state;

    pthread_mutex_unlock(&set->lock);
    if (before == PTHREAD_CANCEL_ENABLE)
        pthread_setcancelstate(before, NULL);
}

enum {
    SOCKETS_SPACE = EPOLLOUT | EPOLLWRNORM,
    SOCKETS_BY_LEVEL = EPOLLIN | EPOLLRDNORM | SOCKETS_SPACE | EPOLLPRI | EPOLLRDHUP | EPOLLERR |
                       EPOLLHUP | EPOLLRDBAND | EPOLLWRBAND,
};

static inline bool sockets_entry_wants_data(const struct sockets_entry *entry)
{
    return entry->events & (EPOLLIN | EPOLLRDNORM);
}

/* Of a set of this process alone, in which all is told of by level, space in rings is told of
 * without the kernel. */
static inline bool sockets_entry_wants_space(const struct sockets_entry *entry)
{
    return (entry->events & SOCKETS_SPACE) && !entry->set->edges && !entry->set->cold &&
           !entry->set->shared && !entry->s->carrier;
}

/* It is told of by level or by edges, each time, by this set alone, and in this process alone. */
static inline bool sockets_entry_is_sole(const struct sockets_entry *entry)
{
    return !(entry->events & (EPOLLONESHOT | EPOLLEXCLUSIVE)) && !entry->told &&
           entry->s->entries == entry && !entry->next && sockets_record_is_sole(entry->s->record) &&
           !atomic_load_explicit(&entry->s->record->pinned, memory_order_relaxed);
}

/* The kernel's user data of an entry.  And what such data is: an entry of ours, one of no set if
 * that is no more, or NULL; or the waker of one. */
uint64_t sockets_entry_data(const struct sockets_entry *entry);
struct sockets_entry *sockets_entry_of(uint64_t data);
struct sockets_entry *sockets_entry_of_waker(uint64_t data);

/* A descriptor of the set's that is open, or -1. */
int sockets_epoll_descriptor(struct sockets_epoll *set);

/* For each set, which nobody frees meanwhile. */
void sockets_epoll_for_each(void (*do_it)(struct sockets_epoll *));

/* After a fork, or in the child of a clone, which was not counted as a holder (share.c). */
void sockets_epoll_forked(bool is_child);

/* This process is about to change a set that it has inherited; with the set's lock. */
void sockets_epoll_disturb(struct sockets_epoll *set);

/* This process has the set no more; and a set that was shared may be so no more. */
void sockets_epoll_give_up(struct sockets_epoll *set);
void sockets_epoll_learn_holders(struct sockets_epoll *set);

/* An unused entry, or NULL. */
struct sockets_entry *sockets_entry_new(void);

/* Of a stream that came into the set by a descriptor; NULL if there is none. */
struct sockets_entry *sockets_entry_find(struct sockets_epoll *set, int fd,
                                         struct sockets_stream *s);
void sockets_entry_link(struct sockets_epoll *set, struct sockets_entry *entry, int fd,
                        struct sockets_stream *s);

/* Before an entry is linked: all may be hot, in the child of a fork without asking for memory.
 * False: there is none. */
bool sockets_epoll_make_room(struct sockets_epoll *set);

/* All of these want the set's lock.  Hot: the set looks at the ring, and nobody need wake it.
 * Armed: the sender wakes whoever sleeps in the set. */
void sockets_entry_make_hot(struct sockets_entry *entry);
void sockets_entry_arm(struct sockets_entry *entry);
void sockets_entry_disarm(struct sockets_entry *entry);
/* Armed so that whoever sleeps already, or is about to, is woken by all that comes from now on. */
void sockets_entry_watch(struct sockets_entry *entry);
void sockets_entry_forget_hot(struct sockets_epoll *set, struct sockets_entry *entry);

/* Wake-ups without TCP (doze.c); all with the set's lock.  Before the only sleeper sleeps, instead
 * of _watch if it returns true; when somebody woke; when the kernel has told of the waker; and when
 * the entry leaves the set. */
bool sockets_entry_doze(struct sockets_entry *entry, int epfd);
void sockets_entry_wake(struct sockets_entry *entry);
void sockets_entry_take_wake_ups(struct sockets_epoll *set, int epfd, struct sockets_entry *entry);
void sockets_entry_remove_waker(struct sockets_entry *entry, int epfd);

/* Whoever sleeps now is woken by TCP, as others ask the kernel's set, too; or so are all from now
 * on. */
void sockets_epoll_doze_no_more(struct sockets_epoll *set, int epfd);
void sockets_epoll_wake_by_tcp(struct sockets_epoll *set, int epfd);
void sockets_epoll_remove_wakers(struct sockets_epoll *set, int epfd);

/* Whether its rings have something that the program is still to be told of: edges of the ring are
 * told from here, those of TCP by the kernel.  Of two kinds: data, and space. */
bool sockets_entry_has_news(const struct sockets_entry *entry);
bool sockets_entry_has_data(const struct sockets_entry *entry);
bool sockets_entry_has_space(const struct sockets_entry *entry);

/* Without any set's lock.  A stream has come into a set; where it was alone in another one, and
 * shared the wake-ups of that, it does so no more. */
void sockets_epoll_part_others(struct sockets_epoll *set, struct sockets_stream *s);

/* The hot entry `i` of the set is no longer looked at. */
void sockets_epoll_cool(struct sockets_epoll *set, uint32_t i);

/* Give the set an eventfd that makes the kernel's set readable; set->owed stays -1 if that fails.
 */
void sockets_epoll_add_owed(struct sockets_epoll *set, int epfd);

/* One wake-up for all (together.c): before the only sleeper sleeps, after it woke, and when
 * something other than it has changed what wakes it. */
void sockets_epoll_join(struct sockets_epoll *set, int epfd);
void sockets_epoll_part(struct sockets_epoll *set);
void sockets_epoll_kick(struct sockets_epoll *set);

/* The kernel says that TCP of a connection is readable: whether a recv would find something, once a
 * bell that nobody needs is taken, by which somebody may have been to be woken for others, too. */
bool sockets_entry_is_readable(struct sockets_entry *entry);

/* Wake whoever sleeps, who looks again. */
void sockets_epoll_wake(struct sockets_epoll *set, int epfd);

/* Others sleep, and a connection has news from before it was armed for them: wake one of them. */
void sockets_epoll_rouse(struct sockets_epoll *set, int epfd, const struct sockets_entry *entry);

/* Changes of which the kernel hears later (defer.c); all with the set's lock.  Whether those of an
 * entry may be, to these events; that there is one; and before somebody asks the kernel, by a
 * descriptor of the set. */
bool sockets_defer_may(const struct sockets_epoll *set, const struct sockets_entry *entry,
                       uint32_t events);
void sockets_defer(struct sockets_epoll *set, struct sockets_entry *entry);
void sockets_defer_no_more(struct sockets_epoll *set, int epfd);

/* An entry is out of the set, of which the kernel knows: nothing of it is deferred; it is used for
 * nothing any more; or both, and nobody sleeps for it. */
void sockets_defer_forget(struct sockets_epoll *set, struct sockets_entry *entry);
void sockets_entry_free(struct sockets_epoll *set, struct sockets_entry *entry);
void sockets_entry_remove(struct sockets_epoll *set, struct sockets_entry *entry);

/* From now on the connection has wake-ups of its own. */
void sockets_entry_leave_together(struct sockets_entry *entry);

/* What is told of, in its order (order.c); all with the set's lock.  A collection begins, and looks
 * at the rings for what is not later than `most`; what the kernel has told of is known to be all
 * until `known`, besides set->asked_at.  set->unsure: the kernel has to be asked before the rest is
 * told; set->late: some was left out because it may follow what the kernel was not asked for. */
void sockets_order_begin(struct sockets_epoll *set);
void sockets_order_look(struct sockets_epoll *set, uint64_t most, uint64_t known);

/* The latest time of what was found, and of the kernel's events; 0 if none is known. */
uint64_t sockets_order_latest(const struct sockets_epoll *set);
uint64_t sockets_order_kernels_latest(const struct epoll_event *events, int n);

/* Put what was found and the `n` events of the kernel's in order, and the first of them, with the
 * program's data, into `events`, which may be the kernel's if they are no more than `max`.  Returns
 * how many there are. */
int sockets_order_tell(struct sockets_epoll *set, const struct epoll_event *kernels, int n,
                       struct epoll_event *events, int max);

/* Room for so many to be found.  False: there is no memory. */
bool sockets_order_make_room(struct sockets_epoll *set, uint32_t room);

/* What was withheld (withheld.c); all but _is_withheld_long with the set's lock.  The kernel has
 * told, by an edge or once, of what was a bell or had to be withheld, and is to tell again: when
 * the set is next looked at, or at once where that may be never, as somebody waits for the set
 * itself. */
void sockets_entry_told_in_vain(struct sockets_entry *entry, int epfd);

/* The program is still to be told of something, by an edge or once. */
bool sockets_entry_is_withheld(const struct sockets_entry *entry);

/* Before the kernel is asked: it is to tell again of what was withheld. */
void sockets_epoll_ask_for_withheld(struct sockets_epoll *set, int epfd);

/* Behind `n` events of the kernel's: what it cannot tell of again.  Returns how many there are. */
int sockets_epoll_add_withheld(struct sockets_epoll *set, struct epoll_event *events, int n,
                               int room);

/* How long to sleep, where the program would for `timeout`, or NULL: for ever. */
const struct timespec *sockets_epoll_nap(const struct sockets_epoll *set,
                                         const struct timespec *timeout);
bool sockets_epoll_is_withheld_long(struct sockets_epoll *set);

/* Of a cold set: what has no news is owed nothing. */
void sockets_epoll_settle(struct sockets_epoll *set);

#endif
