/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper.h"
#include "endpoints.h"

#include "access/direct.h"
#include "memory/heap.h"
#include "runtime.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unet/unet.h>
#include <unistd.h>

#define LOOK_MS 20  /* how long a peer waits for a busy rank's acknowledgement */
#define SERVE_MS 1  /* and, if handlers are run, for what came through shared memory */
#define SERVE_MAX 4 /* polls in a row before the program gets its turn */

enum progress {
    POLL,   /* by the program alone */
    THREAD, /* by a thread that looks again and again */
    UPCALL, /* by a thread that sleeps until something comes */
};

static pthread_mutex_t monitor;
static pthread_t thread[2];
static int threads;
static uint64_t turns;                /* of the one that runs handlers */
static int stop = -1;                 /* an event: they are to stop; -1: none runs */
static int packets = -1;              /* readable when some have come */
static int bell = -1;                 /* the same of messages through shared memory, if armed */
static struct unet_endpoint *bellman; /* who arms it; NULL: nobody */

/* ---- the monitor ------------------------------------------------------------------ */

void splitc_monitor_lock(void)
{
    pthread_mutex_lock(&monitor);
}

void splitc_monitor_unlock(void)
{
    pthread_mutex_unlock(&monitor);
}

static void make_monitor(void)
{
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&monitor, &recursive);
    pthread_mutexattr_destroy(&recursive);
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

/* ---- the threads -------------------------------------------------------------------- */

/* Sleep until something has come, if told to look for it, or the time is over. */
static bool stopped_within(int ms, bool look)
{
    struct pollfd fd[] = {{.fd = stop, .events = POLLIN},
                          {.fd = look ? packets : -1, .events = POLLIN},
                          {.fd = look ? bell : -1, .events = POLLIN}};

    return poll(fd, 3, ms) > 0 && fd[0].revents != 0;
}

/* Where nobody runs handlers, or one takes long, peers still hear of us. */
static void *keep(void *arg)
{
    uint64_t before = 0;

    (void)arg;
    while (!stopped_within(LOOK_MS, false)) {
        const uint64_t now = __atomic_load_n(&turns, __ATOMIC_RELAXED);

        if (now == before)
            reliable_keepalive(splitc_endpoints_reliable());
        before = now;
    }
    return NULL;
}

static void end_turn(void)
{
    pthread_mutex_unlock(&monitor);
    __atomic_store_n(&turns, turns + 1, __ATOMIC_RELAXED);
}

/* False: the program is inside the library, and serves messages itself. */
static bool serve_some(void)
{
    if (pthread_mutex_trylock(&monitor) != 0)
        return false;
    for (int i = 0; i < SERVE_MAX && gam_poll(splitc_runtime.gam) > 0; i++)
        ;
    splitc_deferred_step();
    end_turn();
    return true;
}

/* What the program leaves unread while it waits must not keep us awake. */
static void *serve(void *arg)
{
    bool served = true;

    (void)arg;
    splitc_heap_thread();
    while (!stopped_within(SERVE_MS, served))
        served = serve_some();
    return NULL;
}

static bool enter_within(long ms)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    return pthread_mutex_timedlock(&monitor, &end) == 0;
}

/* Serve until nothing is left, and have the bell rung for what comes next.  False: there is more,
 * but it is the program's turn. */
static bool serve_and_arm(void)
{
    int polls = 0;

    if (bellman)
        unet_disarm(bellman);
    do {
        while (gam_poll(splitc_runtime.gam) > 0)
            if (++polls >= SERVE_MAX)
                return false;
    } while (bellman && unet_arm(bellman, NULL) > 0 && ++polls < SERVE_MAX);
    splitc_deferred_step();
    return polls < SERVE_MAX;
}

/* A program that sleeps in the library arms the bell itself, and afterwards it is not armed; so we
 * look now and then.  While the program is inside it serves messages, and we wait for its end. */
static void *serve_when_rung(void *arg)
{
    int ms = 0;

    (void)arg;
    splitc_heap_thread();
    while (!stopped_within(ms, ms > SERVE_MS)) {
        ms = 0;
        if (!enter_within(LOOK_MS))
            continue;
        ms = serve_and_arm() ? LOOK_MS : SERVE_MS;
        end_turn();
    }
    return NULL;
}

/* ---- start and stop ------------------------------------------------------------------ */

static enum progress wanted(void)
{
    static const char *const names[] = {[POLL] = "poll", [THREAD] = "thread", [UPCALL] = "upcall"};
    const char *told = getenv("SPLITC_PROGRESS");

    for (enum progress p = POLL; p <= UPCALL; p++)
        if (strcmp(told ? told : "poll", names[p]) == 0)
            return p;
    splitc_die_together("SPLITC_PROGRESS is \"%s\": it may be poll, or thread or upcall to serve "
                        "messages while the program computes",
                        told);
}

/* Signals are the program's, and go to its thread. */
static void start(void *(*run)(void *))
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread[threads], NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        splitc_die("cannot start the thread that is there for other ranks: %s", strerror(error));
    threads++;
}

void splitc_keeper_start(struct unet_endpoint *near, struct unet_endpoint *network)
{
    static void *(*const run[])(void *) = {[THREAD] = serve, [UPCALL] = serve_when_rung};
    const enum progress progress = wanted();

    if (!network && progress == POLL)
        return;
    if (network)
        packets = unet_fd(network);
    if (near && progress == UPCALL) {
        bellman = near;
        bell = unet_fd(near);
    }
    make_monitor();
    stop = eventfd(0, EFD_CLOEXEC);
    if (stop < 0)
        splitc_die("cannot make an event for the threads that are there for other ranks: %s",
                   strerror(errno));
    if (network)
        start(keep);
    if (progress != POLL)
        start(run[progress]);
    splitc_runtime.threaded = progress != POLL;
}

void splitc_keeper_stop(void)
{
    const uint64_t one = 1;

    if (stop < 0)
        return;
    if (write(stop, &one, sizeof one) < 0)
        splitc_die("cannot stop the threads that are there for other ranks: %s", strerror(errno));
    while (threads > 0)
        pthread_join(thread[--threads], NULL);
    splitc_runtime.threaded = false;
    close(stop);
    stop = -1;
}
