/* SPDX-License-Identifier: BSD-3-Clause
 *
 * monitor.c - which thread may use messages.
 */
#include "access.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t monitor;

void splitc_monitor_open(void)
{
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&monitor, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

void splitc_monitor_lock(void)
{
    pthread_mutex_lock(&monitor);
}

void splitc_monitor_unlock(void)
{
    pthread_mutex_unlock(&monitor);
}

bool splitc_monitor_try_lock(void)
{
    return pthread_mutex_trylock(&monitor) == 0;
}

bool splitc_monitor_lock_within(long ms)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(&monitor, &end) == 0;
}

__thread bool splitc_own_thread;

_Noreturn void splitc_foreign_thread(const char *what)
{
    splitc_die("%s by another thread than that which runs splitc_main: only that one may do what "
               "needs messages; leave it to that thread, or have threads take turns with "
               "SPLITC_PROGRESS=thread",
               what);
}

void splitc_foreign_wait(const char *what)
{
    if (splitc_runtime.near_ranks < splitc_runtime.ranks)
        splitc_foreign_thread(what);
}
