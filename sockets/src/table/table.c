/* SPDX-License-Identifier: BSD-3-Clause
 *
 * table.c - from descriptors to streams.
 */
#include "table/table.h"
#include "epoll/epoll.h"
#include "upgrade/upgrade.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sockets_stream *_Atomic table[SOCKETS_TABLE_FDS];
static _Atomic bool of_tcp[SOCKETS_TABLE_FDS];
static _Atomic int highest = -1;

/* Who changes the table, and with that the holders of a record, is not in the middle of it while
 * another thread forks.  Who has it waits for nobody. */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER;
/* By the thread that makes a child, or has been made one: some clones are not seen. */
static _Thread_local bool held_for_child __attribute__((tls_model("initial-exec")));

/* Whose the table is.  The kernel wipes this page in children that have memory of their own, so
 * that they are told from those of vfork, which getpid has to tell. */
static pid_t *owner;
static _Atomic bool shares_memory;
void (*sockets_table_begin_child)(void);

static bool in_range(int fd)
{
    return fd >= 0 && fd < SOCKETS_TABLE_FDS;
}

static void make_owner(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    static pid_t fallback;
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    owner = p == MAP_FAILED || madvise(p, page, MADV_WIPEONFORK) < 0 ? &fallback : p;
    *owner = getpid();
}

bool sockets_table_is_ours(void)
{
    if (!owner)
        make_owner();
    if (*owner == 0) {
        *owner = getpid();
        sockets_table_begin_child();
    }
    return !__builtin_expect(atomic_load_explicit(&shares_memory, memory_order_relaxed), 0) ||
           getpid() == *owner;
}

void sockets_table_shares_memory(void)
{
    atomic_store_explicit(&shares_memory, true, memory_order_relaxed);
}

bool sockets_table_has(int fd)
{
    return in_range(fd) && atomic_load_explicit(&table[fd], memory_order_relaxed);
}

void sockets_table_note_tcp(int fd, bool is_tcp)
{
    if (in_range(fd) && atomic_load_explicit(&of_tcp[fd], memory_order_relaxed) != is_tcp)
        atomic_store_explicit(&of_tcp[fd], is_tcp, memory_order_relaxed);
}

bool sockets_table_is_tcp(int fd)
{
    return in_range(fd) && atomic_load_explicit(&of_tcp[fd], memory_order_relaxed);
}

static void note_highest(int fd)
{
    int was = atomic_load(&highest);

    while (was < fd && !atomic_compare_exchange_weak(&highest, &was, fd))
        ;
}

static void set(int fd, struct sockets_stream *s)
{
    note_highest(fd);
    atomic_fetch_add(&s->fds, 1);
    atomic_store(&table[fd], s);
}

/* A stream with the table's reference. */
static struct sockets_stream *make(int fd, bool is_server, bool nonblocking)
{
    struct sockets_stream *s = sockets_stream_new(is_server, nonblocking);

    if (s) {
        s->record->fd = fd;
        atomic_fetch_add(&s->refs, 1);
    }
    return s;
}

void sockets_table_add(int fd, bool nonblocking)
{
    struct sockets_stream *s;

    if (!in_range(fd) || !sockets_table_is_ours())
        return;
    sockets_table_renew(fd);
    if (!(s = make(fd, true, nonblocking)))
        return;
    pthread_mutex_lock(&changes);
    set(fd, s);
    pthread_mutex_unlock(&changes);
}

void sockets_table_adopt(int fd)
{
    struct sockets_stream *s;
    bool is_first;

    if (!in_range(fd) || sockets_table_has(fd) || !sockets_table_is_ours() ||
        !(s = make(fd, false, false)))
        return;
    pthread_mutex_lock(&changes);
    is_first = !sockets_table_has(fd);
    if (is_first)
        set(fd, s);
    pthread_mutex_unlock(&changes);
    if (!is_first) /* another thread was */
        sockets_table_closed(s);
}

struct sockets_stream *sockets_table_enter(int fd)
{
    struct sockets_stream *s;

    if (!in_range(fd))
        return NULL;
    while ((s = atomic_load_explicit(&table[fd], memory_order_acquire)) != NULL) {
        atomic_fetch_add(&s->refs, 1);
        if (atomic_load(&table[fd]) == s) {
            for (uint32_t turn = 1; __builtin_expect(atomic_load(&s->busy), 0); turn++)
                sockets_wait_turn(turn);
            return s;
        }
        sockets_table_leave(s); /* it was closed, and its memory may serve another one */
    }
    return NULL;
}

void sockets_table_leave(struct sockets_stream *s)
{
    if (atomic_fetch_sub(&s->refs, 1) == 1 && atomic_exchange(&s->ended, 0)) {
        const int error = errno;
        if (s->entries) /* another thread has added it to a set after it was closed */
            sockets_epoll_forget(s);
        sockets_upgrade_cancel(s);
        sockets_stream_free(s);
        errno = error;
    }
}

int sockets_table_descriptor_of(const struct sockets_stream *s)
{
    int fd = -1;

    while ((fd = sockets_table_next(fd + 1)) >= 0)
        if (atomic_load(&table[fd]) == s)
            return fd;
    return -1;
}

int sockets_table_descriptor_now(const struct sockets_stream *s, int fd)
{
    return in_range(fd) && atomic_load(&table[fd]) == s ? fd : sockets_table_descriptor_of(s);
}

/* What was there, and whether it is under no other number. */
static struct sockets_stream *unset(int fd, bool *is_last)
{
    struct sockets_stream *s;

    pthread_mutex_lock(&changes);
    s = atomic_exchange(&table[fd], NULL);
    *is_last = s && atomic_fetch_sub(&s->fds, 1) == 1;
    pthread_mutex_unlock(&changes);
    return s;
}

/* The connection of a number, which is open at `open` still, or nowhere (-1). */
static struct sockets_stream *take_out(int fd, int open)
{
    struct sockets_stream *s;
    bool is_last;

    if (!sockets_table_has(fd) || !sockets_table_is_ours() || !(s = unset(fd, &is_last)))
        return NULL;
    if (!is_last) {
        if (s->entries)
            sockets_epoll_move(s, fd, sockets_table_descriptor_of(s));
        return NULL;
    }
    sockets_epoll_forget(s);
    sockets_stream_closing(s, open);
    return s;
}

struct sockets_stream *sockets_table_closing(int fd)
{
    return take_out(fd, fd);
}

void sockets_table_renew(int fd)
{
    if (sockets_table_has(fd))
        sockets_table_closed(take_out(fd, -1));
}

void sockets_table_closed(struct sockets_stream *s)
{
    if (!s)
        return;
    atomic_store(&s->ended, 1);
    sockets_table_leave(s);
}

void sockets_table_copy(int fd, int copy)
{
    struct sockets_stream *s;

    if (!in_range(copy) || !sockets_table_is_ours())
        return;
    s = sockets_table_enter(fd);
    if (!s)
        return;
    pthread_mutex_lock(&changes);
    if (atomic_load(&s->fds) > 0) /* else another thread has just closed it */
        set(copy, s);
    pthread_mutex_unlock(&changes);
    sockets_table_leave(s);
}

int sockets_table_next(int fd)
{
    const int last = atomic_load(&highest);

    for (; fd <= last; fd++)
        if (atomic_load_explicit(&table[fd], memory_order_relaxed))
            return fd;
    return -1;
}

void sockets_table_end(void)
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;) {
        struct sockets_stream *s = sockets_table_enter(fd);

        if (!s)
            continue;
        if (atomic_load(&s->fds) <= 1 || s->record->fd == fd)
            sockets_stream_closing(s, fd);
        if (sockets_record_is_sole(s->record))
            sockets_record_count(s->record);
        sockets_record_end(s->record);
        sockets_table_leave(s);
    }
}

/* Nothing is changed meanwhile.  A stream under several descriptors is met once. */
static void for_each_stream(void (*do_it)(struct sockets_stream *s))
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;)
        atomic_load(&table[fd])->met = false;
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;) {
        struct sockets_stream *s = atomic_load(&table[fd]);

        if (!s->met)
            do_it(s);
        s->met = true;
    }
}

void sockets_table_exec(bool failed)
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;) {
        struct sockets_stream *s = sockets_table_enter(fd);

        if (!s)
            continue;
        if (atomic_load(&s->fds) == 1 && (fcntl(fd, F_GETFD) & FD_CLOEXEC))
            sockets_record_exec(s->record, failed);
        sockets_table_leave(s);
    }
}

static void hold(struct sockets_stream *s)
{
    atomic_fetch_add(&s->record->holders, 1);
}

/* The threads that were in calls have stayed in the parent. */
static void reset(struct sockets_stream *s)
{
    atomic_store(&s->refs, 1);
    atomic_store(&s->busy, 0);
    atomic_store(&s->stepping, 0);
    atomic_store(&s->waking, 0);
    sockets_record_inherit(s->record);
    s->carrier = NULL; /* the parent's, as is the thread that serves it */
    s->meeting = NULL;
    s->recalling = false;
}

static void hold_for_child(struct sockets_stream *s)
{
    hold(s);
    sockets_record_watch(s->record);
}

static void release(struct sockets_stream *s)
{
    atomic_fetch_sub(&s->record->holders, 1);
}

void sockets_table_lock(void)
{
    pthread_mutex_lock(&changes);
    for_each_stream(hold_for_child);
    held_for_child = true;
}

void sockets_table_unlock(bool has_child)
{
    if (!has_child)
        for_each_stream(release);
    held_for_child = false;
    pthread_mutex_unlock(&changes);
}

void sockets_table_after_fork(void)
{
    pthread_mutex_init(&changes, NULL);
    if (!held_for_child)
        for_each_stream(hold);
    held_for_child = false;
    for_each_stream(reset);
}

void sockets_table_forked(void)
{
    if (owner && *owner == getpid())
        return;
    if (!owner)
        make_owner();
    *owner = 0;
    sockets_table_is_ours();
}
