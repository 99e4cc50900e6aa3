/* SPDX-License-Identifier: BSD-3-Clause
 *
 * filter.c - what a program says of its system calls, and of the cores of its threads.
 *
 * One that forbids itself some (seccomp) may be killed by a call that only this library makes.  So
 * no connection is upgraded from then on, no thread is told where to wait, and nobody is asked
 * whether other processes live.  Who places threads itself is not interfered with either.
 */
#include "calls/call.h"
#include "spin/core.h"
#include "upgrade/schedule.h"
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void forbid(void)
{
    sockets_core_never();
    sockets_schedule_end();
    sockets_record_never_settle();
}

/* Libraries ask whether there are filters without an argument. */
static void filter(unsigned long operation, const void *argument)
{
    if (operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && argument))
        forbid();
}

static void filter_by_prctl(unsigned long mode, const void *argument)
{
    filter(mode == SECCOMP_MODE_STRICT ? SECCOMP_SET_MODE_STRICT : SECCOMP_SET_MODE_FILTER,
           argument);
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
        filter_by_prctl(a[0], (const void *)a[1]);
    return sockets_real.prctl(option, a[0], a[1], a[2], a[3]);
}

void sockets_call_by_number(long number, const long a[6])
{
    if (number == SYS_seccomp)
        filter((unsigned long)a[0], (const void *)a[2]);
    else if (number == SYS_prctl && a[0] == PR_SET_SECCOMP)
        filter_by_prctl((unsigned long)a[1], (const void *)a[2]);
    else if (number == SYS_sched_setaffinity)
        sockets_core_never();
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
