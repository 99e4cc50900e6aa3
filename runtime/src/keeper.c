/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* sem_clockwait */
#include "keeper.h"

#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#define LOOK_NS 20000000 /* how long a peer waits for a busy rank's acknowledgement */

static pthread_t thread;
static sem_t stop;
static bool started;

static bool stopped_within_a_look(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    return sem_clockwait(&stop, CLOCK_MONOTONIC, &until) == 0;
}

static void *keep(void *arg)
{
    (void)arg;
    while (!stopped_within_a_look())
        gam_keep(splitc_runtime.gam);
    return NULL;
}

/* Signals are the program's, and go to its thread. */
void splitc_keeper_start(void)
{
    sigset_t all, before;
    int error;

    sem_init(&stop, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, NULL, keep, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        splitc_die("cannot start the thread that keeps the network alive: %s", strerror(error));
    started = true;
}

void splitc_keeper_stop(void)
{
    if (!started)
        return;
    sem_post(&stop);
    pthread_join(thread, NULL);
    started = false;
}
