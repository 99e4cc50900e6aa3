/* SPDX-License-Identifier: BSD-3-Clause
 *
 * monitor.c - which thread may use messages.
 *
 * Who finds `turn` taken waits for it as the holder of `next`.  A thread inside that waits for
 * messages gives its turn to the holder of `next`, and gets in again behind it, so that threads
 * that wait at the same time look in turns.
 */
#include "access.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t next = PTHREAD_MUTEX_INITIALIZER;
static __thread unsigned depth; /* of this thread's calls that are inside */

__thread bool splitc_own_thread;

static void turn_await(void)
{
    pthread_mutex_lock(&next);
    pthread_mutex_lock(&turn);
    pthread_mutex_unlock(&next);
}

void splitc_monitor_lock(void)
{
    if (depth++ > 0)
        return;
    if (pthread_mutex_trylock(&turn) != 0)
        turn_await();
    if (!splitc_own_thread)
        splitc_runtime.own_threads = true;
}

void splitc_monitor_unlock(void)
{
    if (--depth == 0)
        pthread_mutex_unlock(&turn);
}

bool splitc_monitor_try_lock(void)
{
    if (pthread_mutex_trylock(&turn) != 0)
        return false;
    depth++;
    return true;
}

bool splitc_monitor_lock_within(long ms)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    if (pthread_mutex_timedlock(&turn, &end) != 0)
        return false;
    depth++;
    return true;
}

void splitc_monitor_pass(void)
{
    if (depth == 0)
        return;
    if (pthread_mutex_trylock(&next) == 0) {
        pthread_mutex_unlock(&next); /* nobody waits */
        return;
    }
    pthread_mutex_unlock(&turn);
    turn_await();
}

_Noreturn void splitc_foreign_thread(const char *what)
{
    splitc_die("%s by another thread than that which runs splitc_main: only that one may do what "
               "needs messages; leave it to that thread, or have threads take turns with "
               "SPLITC_THREADS=1",
               what);
}

void splitc_foreign_wait(const char *what)
{
    if (splitc_runtime.near_ranks < splitc_runtime.ranks)
        splitc_foreign_thread(what);
}

_Noreturn void splitc_foreign_collective(const char *what)
{
    splitc_die("%s by another thread than that which runs splitc_main: collective operations are "
               "for that one, whatever SPLITC_THREADS and SPLITC_PROGRESS say",
               what);
}
