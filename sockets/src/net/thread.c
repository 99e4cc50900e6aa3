/* SPDX-License-Identifier: BSD-3-Clause
 *
 * thread.c - threads of the library's.
 */
#include "net/thread.h"
#include <pthread.h>
#include <signal.h>

enum { STACK = 256 << 10 };

bool sockets_thread_start(void *(*body)(void *), void *argument)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int error;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error == 0;
}
