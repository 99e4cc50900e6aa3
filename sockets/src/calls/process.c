/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process.c - processes begin, fork, execute and end.
 */
#include "calls/call.h"
#include "epoll/epoll.h"
#include "spin/spin.h"
#include <pthread.h>
#include <stdlib.h>

bool sockets_process_ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    sockets_stream_lock_all();
    sockets_epoll_before_fork();
    sockets_table_before_fork();
}

static void after_fork(bool is_child)
{
    if (is_child) {
        sockets_lock_after_fork();
        sockets_record_after_fork();
        sockets_upgrade_after_fork();
    }
    sockets_table_after_fork(is_child);
    sockets_epoll_after_fork(is_child);
    sockets_stream_unlock_all();
}

/* No handler ran before a clone, so nothing is locked that has to be unlocked. */
static void after_clone(void)
{
    sockets_lock_after_fork();
    sockets_record_after_fork();
    sockets_upgrade_after_fork();
    sockets_table_after_fork(true);
    sockets_epoll_before_fork();
    sockets_epoll_after_fork(true);
}

static void after_fork_parent(void)
{
    after_fork(false);
}
static void after_fork_child(void)
{
    after_fork(true);
}

static void init(void)
{
    sockets_real_init();
    sockets_record_init();
    sockets_spin_init();
    sockets_upgrade_init();
    sockets_table_after_clone = after_clone;
    sockets_table_is_ours(); /* from now on */
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    sockets_process_ready = true;
}

void sockets_process_init(void)
{
    pthread_once(&once, init);
}

__attribute__((constructor)) static void begin(void)
{
    sockets_process_init();
}

__attribute__((destructor)) static void end(void)
{
    sockets_table_end();
}

SOCKETS_EXPORT void _exit(int status)
{
    sockets_call_prepare();
    sockets_table_end();
    sockets_real._exit(status);
    __builtin_unreachable();
}

SOCKETS_EXPORT void _Exit(int status)
{
    _exit(status);
}

/* ---- exec ------------------------------------------------------------------------- */

/* A program that is executed has its standard descriptors from us, and not our memory. */
static void before_exec(void)
{
    sockets_call_prepare();
    sockets_table_exec(false);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        struct sockets_stream *s = sockets_table_enter(fd);

        if (!s)
            continue;
        sockets_stream_pin(s);
        sockets_table_leave(s);
    }
}

SOCKETS_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    before_exec();
    sockets_real.execve(path, argv, envp);
    sockets_table_exec(true);
    return -1;
}

SOCKETS_EXPORT int execv(const char *path, char *const argv[])
{
    return execve(path, argv, environ);
}

SOCKETS_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    before_exec();
    sockets_real.execvpe(file, argv, envp);
    sockets_table_exec(true);
    return -1;
}

SOCKETS_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}
