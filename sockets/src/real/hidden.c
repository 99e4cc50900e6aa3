/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hidden.c - descriptors of ours, of which the program knows nothing.
 */
#include "real/hidden.h"
#include "real/real.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

enum {
    HIGHEST = 1 << 16, /* the kernel's table of descriptors grows up to the highest */
    FEW = 4 * SOCKETS_HIDDEN,
};

/* Descriptors plus one, so that 0 is a free slot; and how many there are. */
static _Atomic int slots[SOCKETS_HIDDEN];
static _Atomic int used;
static _Atomic bool made[SOCKETS_HIDDEN]; /* by a library that knows the number */
static _Atomic int lowest = INT_MAX;      /* none was ever lower: so those of programs mostly are */

/* Whoever looks at the limit finds the program's; but for a signal handler in that moment. */
static pthread_mutex_t limit_lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

static _Thread_local bool is_ours __attribute__((tls_model("initial-exec")));

static int copy_from(int fd, rlim_t from)
{
    return sockets_real.fcntl(fd, F_DUPFD_CLOEXEC, (int)from);
}

bool sockets_hidden_lock_limit(void)
{
    return pthread_mutex_lock(&limit_lock) == 0;
}

void sockets_hidden_unlock_limit(void)
{
    pthread_mutex_unlock(&limit_lock);
}

/* Above the limit, which is raised for the moment of one call. */
static int copy_above(int fd, const struct rlimit *limit)
{
    struct rlimit raised = *limit;
    int copy;

    raised.rlim_cur += 2 * SOCKETS_HIDDEN;
    if (raised.rlim_cur > limit->rlim_max)
        raised.rlim_cur = limit->rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) < 0)
        return -1;
    copy = copy_from(fd, limit->rlim_cur);
    setrlimit(RLIMIT_NOFILE, limit);
    return copy;
}

/* The same file at a number that is out of the program's way, or -1; nobody else raises the limit
 * meanwhile.  One that stays for long is not higher than need be: each fork copies the table up to
 * it. */
static int copy_where_limit_is(int fd, bool for_long)
{
    struct rlimit limit;
    rlim_t high;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -1;
    if (limit.rlim_cur < limit.rlim_max && limit.rlim_cur <= HIGHEST)
        return copy_above(fd, &limit);
    if (limit.rlim_cur < FEW)
        return -1;
    high = (limit.rlim_cur < HIGHEST ? limit.rlim_cur : HIGHEST) - 2 * SOCKETS_HIDDEN;
    return copy_from(fd, for_long && high > FEW ? FEW : high);
}

static int copy_away(int fd, bool for_long)
{
    int copy;

    if (!sockets_hidden_lock_limit())
        return -1;
    copy = copy_where_limit_is(fd, for_long);
    sockets_hidden_unlock_limit();
    return copy;
}

/* The same there, or where it was. */
static int move(int fd)
{
    const int copy = copy_away(fd, false);

    if (copy < 0)
        return fd;
    sockets_real.close(fd);
    return copy;
}

static void note_lowest(int fd)
{
    int before = atomic_load(&lowest);

    while (fd < before && !atomic_compare_exchange_weak(&lowest, &before, fd))
        ;
}

static int keep(int fd)
{
    note_lowest(fd);
    for (int i = 0; i < SOCKETS_HIDDEN; i++) {
        int none = 0;

        if (!atomic_compare_exchange_strong(&slots[i], &none, fd + 1))
            continue;
        atomic_store(&made[i], is_ours);
        atomic_fetch_add(&used, 1);
        return i;
    }
    sockets_real.close(fd);
    return -1;
}

int sockets_hidden_keep(int fd)
{
    return fd < 0 ? -1 : keep(move(fd));
}

int sockets_hidden_copy(int fd)
{
    const int copy = copy_away(fd, true);

    return copy < 0 ? -1 : keep(copy);
}

bool sockets_hidden_begin(void)
{
    const bool before = is_ours;

    is_ours = true;
    return before;
}

void sockets_hidden_end(bool before)
{
    is_ours = before;
}

bool sockets_hidden_is_ours(void)
{
    return is_ours;
}

int sockets_hidden_made(int fd)
{
    const int slot = fd < 0 ? -1 : sockets_hidden_keep(fd);

    if (fd >= 0 && slot < 0)
        errno = EMFILE;
    return sockets_hidden_fd(slot);
}

int sockets_hidden_fd(int slot)
{
    return slot < 0 ? -1 : atomic_load(&slots[slot]) - 1;
}

void sockets_hidden_close(int slot)
{
    int fd;

    if (slot < 0 || (fd = atomic_exchange(&slots[slot], 0)) == 0)
        return;
    atomic_store(&made[slot], false);
    atomic_fetch_sub(&used, 1);
    sockets_real.close(fd - 1);
}

static int slot_of(int fd)
{
    if (fd < atomic_load_explicit(&lowest, memory_order_relaxed))
        return -1;
    for (int i = 0; i < SOCKETS_HIDDEN; i++)
        if (atomic_load(&slots[i]) - 1 == fd)
            return i;
    return -1;
}

int sockets_hidden_close_made(int fd)
{
    const int slot = slot_of(fd);

    if (slot < 0)
        return sockets_real.close(fd);
    sockets_hidden_close(slot);
    return 0;
}

void sockets_hidden_after_fork(void)
{
    limit_lock = (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    for (int i = 0; i < SOCKETS_HIDDEN; i++)
        if (atomic_load(&made[i]))
            sockets_hidden_close(i);
}

bool sockets_hidden_is(int fd)
{
    return slot_of(fd) >= 0;
}

void sockets_hidden_evade(int fd)
{
    const int slot = slot_of(fd);
    int copy;

    if (slot < 0)
        return;
    copy = copy_from(fd, (rlim_t)fd + 1);
    if (copy < 0)
        copy = copy_from(fd, 3);
    if (copy >= 0)
        note_lowest(copy);
    atomic_store(&slots[slot], copy + 1);
    if (copy < 0)
        atomic_fetch_sub(&used, 1);
}

/* The lowest hidden descriptor from `first` to `last`, or -1. */
static int64_t next_hidden(unsigned first, unsigned last)
{
    int64_t next = -1;

    for (int i = 0; i < SOCKETS_HIDDEN; i++) {
        const int64_t fd = atomic_load(&slots[i]) - 1;

        if (fd >= (int64_t)first && fd <= (int64_t)last && (next < 0 || fd < next))
            next = fd;
    }
    return next;
}

int sockets_hidden_close_range(unsigned first, unsigned last, int flags)
{
    int64_t hidden;

    if (atomic_load(&used) == 0)
        return sockets_real.close_range(first, last, flags);
    while (first <= last && (hidden = next_hidden(first, last)) >= 0) {
        if (hidden > (int64_t)first &&
            sockets_real.close_range(first, (unsigned)hidden - 1, flags) < 0)
            return -1;
        if (hidden == (int64_t)last)
            return 0;
        first = (unsigned)hidden + 1;
    }
    return sockets_real.close_range(first, last, flags);
}
