/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filter.c - what a program says of its system calls, and of the cores of its threads.
 *
 * One that forbids itself some (seccomp) may be killed by a call that only this library makes.  So
 * no connection is upgraded from then on, and no thread is told where to wait.  Who places threads
 * itself is not interfered with either.
 */
#include "calls/call.h"
#include "spin/core.h"
#include "upgrade/schedule.h"
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>

static void forbid(void)
{
    sockets_core_never();
    sockets_schedule_end();
}

SOCKETS_EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list more;

    /* As libc's, which looks at all four, whatever the option. */
    va_start(more, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(more, unsigned long);
    va_end(more);
    sockets_call_prepare();
    if (option == PR_SET_SECCOMP)
        forbid();
    return sockets_real.prctl(option, a[0], a[1], a[2], a[3]);
}

SOCKETS_EXPORT int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *cores)
{
    sockets_call_prepare();
    sockets_core_never();
    return sockets_real.sched_setaffinity(thread, size, cores);
}

SOCKETS_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *cores)
{
    sockets_call_prepare();
    sockets_core_never();
    return sockets_real.pthread_setaffinity_np(thread, size, cores);
}

void sockets_call_filter(long operation, long flags, long argument)
{
    (void)flags;
    if (operation == SECCOMP_SET_MODE_STRICT || /* libraries ask without an argument */
        (operation == SECCOMP_SET_MODE_FILTER && argument != 0))
        forbid();
}
