/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper.h"

#include "heap.h"
#include "runtime.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOK_MS 20  /* how long a peer waits for a busy rank's acknowledgement */
#define SERVE_MS 1  /* and, if handlers are run, for what came through shared memory */
#define SERVE_MAX 4 /* polls in a row before the program gets its turn */

static pthread_mutex_t monitor;
static pthread_t thread;
static int stop = -1;    /* an event: it is to stop; -1: it does not run */
static int packets = -1; /* readable when some have come */

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

/* ---- the thread --------------------------------------------------------------------- */

/* Sleep until something has come, if told to look for it, or the time is over. */
static bool stopped_within(int ms, int look_for)
{
    struct pollfd fd[] = {{.fd = stop, .events = POLLIN}, {.fd = look_for, .events = POLLIN}};

    return poll(fd, 2, ms) > 0 && fd[0].revents != 0;
}

static void *keep(void *arg)
{
    (void)arg;
    while (!stopped_within(LOOK_MS, -1))
        gam_keep(splitc_runtime.gam);
    return NULL;
}

/* False: the program is inside the library, and serves messages itself. */
static bool serve_some(void)
{
    if (pthread_mutex_trylock(&monitor) != 0)
        return false;
    for (int i = 0; i < SERVE_MAX && gam_poll(splitc_runtime.gam) > 0; i++)
        ;
    pthread_mutex_unlock(&monitor);
    return true;
}

/* What the program leaves unread while it waits must not keep us awake. */
static void *serve(void *arg)
{
    bool served = true;

    (void)arg;
    splitc_heap_thread();
    while (!stopped_within(SERVE_MS, served ? packets : -1))
        served = serve_some();
    return NULL;
}

/* ---- start and stop ------------------------------------------------------------------ */

static bool wants_thread(void)
{
    const char *told = getenv("SPLITC_PROGRESS");

    if (told && strcmp(told, "poll") != 0 && strcmp(told, "thread") != 0)
        splitc_die_together(
            "SPLITC_PROGRESS is \"%s\": it may be poll, or thread to serve messages "
            "while the program computes",
            told);
    return told && strcmp(told, "thread") == 0;
}

/* Signals are the program's, and go to its thread. */
static int start(void *(*run)(void *))
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void splitc_keeper_start(int network)
{
    const bool serves = wants_thread();
    int error;

    if (network < 0 && !serves)
        return;
    packets = network;
    make_monitor();
    stop = eventfd(0, EFD_CLOEXEC);
    error = stop < 0 ? errno : start(serves ? serve : keep);
    if (error)
        splitc_die("cannot start the thread that is there for other ranks: %s", strerror(error));
    splitc_runtime.threaded = serves;
}

void splitc_keeper_stop(void)
{
    const uint64_t one = 1;

    if (stop < 0)
        return;
    if (write(stop, &one, sizeof one) < 0)
        splitc_die("cannot stop the thread that is there for other ranks: %s", strerror(errno));
    pthread_join(thread, NULL);
    splitc_runtime.threaded = false;
    close(stop);
    stop = -1;
}
