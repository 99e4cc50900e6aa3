/* SPDX-License-Identifier: BSD-3-Clause */
#include "keeper.h"

#include "access/access.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <reliable/reliable.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unet/unet.h>
#include <unistd.h>

#define LOOK_MS 20  /* how long a busy rank may delay an acknowledgement */
#define SERVE_MS 1  /* and, where handlers are run, messages through shared memory */
#define SERVE_MAX 4 /* consecutive polls before the program gets its turn */

enum progress {
    POLL,   /* by the program alone */
    THREAD, /* by a thread that polls periodically */
    UPCALL, /* by a thread that sleeps until something comes */
};

static pthread_t thread[2];
static int threads;
static uint64_t turns;   /* of the thread that runs handlers */
static int stop = -1;    /* an eventfd that tells the threads to stop; -1: none runs */
static int packets = -1; /* readable when packets have come */
static int bell = -1;    /* the same for messages through shared memory, while it is armed */
static struct unet_endpoint *armed; /* the endpoint whose bell that is, or NULL */

/* ---- the threads -------------------------------------------------------------------- */

/* Sleep for the time, or, if `look`, until something has come.  Returns whether to stop. */
static bool keeper_stopped_within(int ms, bool look)
{
    struct pollfd fd[] = {{.fd = stop, .events = POLLIN},
                          {.fd = look ? packets : -1, .events = POLLIN},
                          {.fd = look ? bell : -1, .events = POLLIN}};

    return poll(fd, 3, ms) > 0 && fd[0].revents != 0;
}

/* Peers hear of this rank even where no thread runs handlers, or one takes long. */
static void *keeper_keep(void *arg)
{
    uint64_t before = 0;

    (void)arg;
    while (!keeper_stopped_within(LOOK_MS, false)) {
        const uint64_t now = __atomic_load_n(&turns, __ATOMIC_RELAXED);

        if (now == before)
            reliable_keepalive(splitc_runtime.protocol);
        before = now;
    }
    return NULL;
}

static void keeper_end_turn(void)
{
    splitc_monitor_unlock();
    __atomic_store_n(&turns, turns + 1, __ATOMIC_RELAXED);
}

/* Returns false if the program is inside the library, where it serves messages itself. */
static bool keeper_serve_some(void)
{
    if (!splitc_monitor_try_lock())
        return false;
    for (int i = 0; i < SERVE_MAX && gam_poll(splitc_runtime.gam) > 0; i++)
        ;
    splitc_deferred_step();
    keeper_end_turn();
    return true;
}

/* It does not look at descriptors while the program is inside the library: what that leaves unread
 * would keep this thread awake. */
static void *keeper_serve(void *arg)
{
    bool served = true;

    (void)arg;
    splitc_heap_thread();
    while (!keeper_stopped_within(SERVE_MS, served))
        served = keeper_serve_some();
    return NULL;
}

/* Serve until nothing is left, and arm the bell for what comes next.  Returns false if there is
 * more, but it is the turn of the program. */
static bool keeper_serve_and_arm(void)
{
    int polls = 0;

    if (armed)
        unet_disarm(armed);
    do {
        while (gam_poll(splitc_runtime.gam) > 0) {
            if (++polls >= SERVE_MAX) {
                splitc_deferred_step();
                return false;
            }
        }
    } while (armed && unet_arm(armed, NULL) > 0 && ++polls < SERVE_MAX);
    splitc_deferred_step();
    return polls < SERVE_MAX;
}

/* A program that sleeps in the library arms the bell itself and leaves it unarmed, so this thread
 * also looks periodically.  While the program is inside the library it serves messages, and this
 * thread waits. */
static void *keeper_serve_when_rung(void *arg)
{
    int ms = 0;

    (void)arg;
    splitc_heap_thread();
    while (!keeper_stopped_within(ms, ms > SERVE_MS)) {
        ms = 0;
        if (!splitc_monitor_lock_within(LOOK_MS))
            continue;
        ms = keeper_serve_and_arm() ? LOOK_MS : SERVE_MS;
        keeper_end_turn();
    }
    return NULL;
}

/* ---- start and stop ------------------------------------------------------------------ */

static enum progress progress_setting(void)
{
    static const char *const names[] = {[POLL] = "poll", [THREAD] = "thread", [UPCALL] = "upcall"};
    const char *setting = getenv("SPLITC_PROGRESS");

    for (enum progress p = POLL; p <= UPCALL; p++)
        if (strcmp(setting ? setting : "poll", names[p]) == 0)
            return p;
    splitc_die_together("SPLITC_PROGRESS is \"%s\": it may be poll, or thread or upcall to serve "
                        "messages while the program computes",
                        setting);
}

static bool threads_setting(void)
{
    const char *setting = getenv("SPLITC_THREADS");

    if (setting && strcmp(setting, "0") != 0 && strcmp(setting, "1") != 0)
        splitc_die_together(
            "SPLITC_THREADS is \"%s\": it may be 0, or 1 to have all threads of the "
            "program use messages, in turns",
            setting);
    return setting && *setting == '1';
}

/* Signals are for the thread of the program. */
static void keeper_start_thread(void *(*run)(void *))
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
    static void *(*const run[])(void *) = {
        [THREAD] = keeper_serve, [UPCALL] = keeper_serve_when_rung};
    const enum progress progress = progress_setting();

    splitc_runtime.own_threads = threads_setting();
    splitc_runtime.threaded = splitc_runtime.own_threads || progress != POLL;
    splitc_runtime.served = progress != POLL;
    if (!splitc_runtime.protocol && progress == POLL)
        return;
    if (network)
        packets = unet_fd(network);
    if (near && progress == UPCALL) {
        armed = near;
        bell = unet_fd(near);
    }
    stop = eventfd(0, EFD_CLOEXEC);
    if (stop < 0)
        splitc_die("cannot make an event for the threads that are there for other ranks: %s",
                   strerror(errno));
    if (splitc_runtime.protocol)
        keeper_start_thread(keeper_keep);
    if (progress != POLL)
        keeper_start_thread(run[progress]);
}

void splitc_keeper_stop(void)
{
    const uint64_t one = 1;

    splitc_runtime.served = false;
    if (stop < 0)
        return;
    if (write(stop, &one, sizeof one) < 0)
        splitc_die("cannot stop the threads that are there for other ranks: %s", strerror(errno));
    while (threads > 0)
        pthread_join(thread[--threads], NULL);
    splitc_runtime.threaded = splitc_runtime.own_threads;
    close(stop);
    stop = -1;
}
