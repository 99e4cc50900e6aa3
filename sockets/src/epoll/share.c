/* SPDX-License-Identifier: BSD-3-Clause
 *
 * share.c - sets that other processes have, too.
 *
 * Of such a set the kernel hears at once, as others ask it, and TCP wakes who sleeps in it.  How
 * many processes have it stands in memory that a fork shares; so it is this process's alone again
 * when the others have closed it, have ended, or execute a program that does not get it.  Whoever
 * is killed, is passed a set, or has changed one that it inherited, is counted for ever; and who
 * has inherited a set never has it alone, as its parent may have changed that.
 */
#include "epoll/internal.h"
#include "real/real.h"
#include <fcntl.h>
#include <sys/mman.h>

enum { COUNTERS = 1024 }; /* in use at a time; a set that gets none is shared for ever */

static _Atomic uint32_t *_Atomic counters;
/* The child that this thread makes, or is, by a fork: a raw clone calls no handlers. */
static _Thread_local bool counted __attribute__((tls_model("initial-exec")));

static _Atomic uint32_t *all_counters(void)
{
    const size_t size = COUNTERS * sizeof(uint32_t);
    _Atomic uint32_t *none = NULL, *made = atomic_load(&counters);

    if (made)
        return made;
    made = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    if (atomic_compare_exchange_strong(&counters, &none, made))
        return made;
    munmap((void *)made, size);
    return none;
}

/* With this process as the only one that has it. */
static _Atomic uint32_t *new_counter(void)
{
    _Atomic uint32_t *all = all_counters();

    for (int i = 0; all && i < COUNTERS; i++) {
        uint32_t unused = 0;

        if (atomic_compare_exchange_strong(&all[i], &unused, 1))
            return &all[i];
    }
    return NULL;
}

static void hold(struct sockets_epoll *set)
{
    _Atomic uint32_t *const holders = atomic_load(&set->holders);

    if (holders)
        atomic_fetch_add(holders, 1);
}

/* Who else asks the kernel shall find what the program has told it.  Whoever gets the set is
 * counted before others look whether anybody has it. */
static void share(struct sockets_epoll *set)
{
    const int epfd = sockets_epoll_descriptor(set);

    sockets_epoll_lock(set);
    set->shared = true;
    if (!atomic_load(&set->holders))
        atomic_store(&set->holders, new_counter());
    hold(set);
    sockets_defer_no_more(set, epfd);
    sockets_epoll_doze_no_more(set, epfd);
    sockets_epoll_unlock(set);
}

void sockets_epoll_share(int epfd)
{
    struct sockets_epoll *set = sockets_epoll_enter(epfd);

    if (!set)
        return;
    share(set);
    sockets_epoll_leave(set);
}

void sockets_epoll_share_all(void)
{
    counted = true;
    sockets_epoll_for_each(share);
}

void sockets_epoll_forked(bool is_child)
{
    if (is_child && !counted)
        sockets_epoll_for_each(hold);
    counted = false;
}

void sockets_epoll_disturb(struct sockets_epoll *set)
{
    if (!set->disturbed)
        hold(set);
    set->disturbed = true;
}

/* Without the lock, as a handler of a signal may end the process. */
void sockets_epoll_give_up(struct sockets_epoll *set)
{
    _Atomic uint32_t *const holders = atomic_exchange(&set->holders, NULL);

    if (holders)
        atomic_fetch_sub(holders, 1);
}

void sockets_epoll_end(void)
{
    sockets_epoll_for_each(sockets_epoll_give_up);
}

static bool is_closed_on_exec(struct sockets_epoll *set)
{
    return set->descriptors == 1 &&
           (sockets_real.fcntl(sockets_epoll_descriptor(set), F_GETFD) & FD_CLOEXEC);
}

static void give_to_exec(struct sockets_epoll *set)
{
    _Atomic uint32_t *const holders = atomic_load(&set->holders);

    if (holders && is_closed_on_exec(set))
        atomic_fetch_sub(holders, 1);
}

static void take_from_exec(struct sockets_epoll *set)
{
    if (is_closed_on_exec(set))
        hold(set);
}

void sockets_epoll_exec(bool failed)
{
    sockets_epoll_for_each(failed ? take_from_exec : give_to_exec);
}

static bool is_sole(struct sockets_epoll *set)
{
    _Atomic uint32_t *const holders = atomic_load(&set->holders);

    return holders && !set->inherited && atomic_load(holders) == 1;
}

void sockets_epoll_learn_holders(struct sockets_epoll *set)
{
    if (!is_sole(set))
        return;
    sockets_epoll_lock(set);
    if (is_sole(set)) /* no other thread has forked meanwhile */
        set->shared = false;
    sockets_epoll_unlock(set);
}
