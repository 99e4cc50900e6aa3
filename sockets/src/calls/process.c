/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process.c - processes begin, fork, execute and end.
 */
#include "calls/call.h"
#include "calls/hand.h"
#include "epoll/epoll.h"
#include "net/agent.h"
#include "net/judge.h"
#include "net/link.h"
#include "net/meet.h"
#include "record/pause.h"
#include "spin/spin.h"
#include "stream/round.h"
#include <pthread.h>
#include <stdlib.h>

enum { RETIRE_NS = 1000000000 }; /* how long a fork waits for other hosts */

enum retiring { BEGIN, READERS, WRITERS };

bool sockets_process_ready;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* What a child inherits has to be with TCP: it has no thread that serves links.  Where both ends
 * are of this process a writer that left its ring too early would leave nothing to be recalled. */
static void retire_carriers(enum retiring step, uint64_t until)
{
    for (int fd = -1; (fd = sockets_table_next(fd + 1)) >= 0;) {
        struct sockets_stream *s = sockets_table_enter(fd);

        if (!s)
            continue;
        if (step == BEGIN)
            sockets_stream_retire_begin(s, fd);
        else if (step == READERS)
            sockets_stream_retire_reader(s, fd, until);
        else
            sockets_stream_retire_writer(s, fd, until);
        sockets_table_leave(s);
    }
}

static void before_fork(void)
{
    const uint64_t until = sockets_now_ns() + RETIRE_NS;

    retire_carriers(BEGIN, until);
    retire_carriers(READERS, until);
    retire_carriers(WRITERS, until);
    sockets_epoll_share_all();
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
        sockets_agent_after_fork();
        sockets_road_after_fork();
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
    sockets_agent_after_fork();
    sockets_road_after_fork();
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
    sockets_stream_init();
    sockets_upgrade_init();
    sockets_link_init();
    sockets_judge_init();
    sockets_road_init();
    sockets_link_wake = sockets_agent_wake;
    sockets_road_wake = sockets_agent_wake;
    sockets_round_send = sockets_road_uncork_all;
    sockets_link_descriptor_of = sockets_table_descriptor_of;
    sockets_table_after_clone = after_clone;
    sockets_stream_on_taken = sockets_epoll_taken;
    sockets_table_is_ours(); /* from now on */
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    sockets_process_ready = true;
    sockets_meet_init(); /* which makes calls of its own */
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

/* A program that is executed has the descriptors that are not closed, and not our memory. */
static void before_exec(void)
{
    sockets_call_prepare();
    sockets_call_hand_over_all();
    retire_carriers(WRITERS, sockets_now_ns() + RETIRE_NS); /* those that exec closes */
    sockets_table_exec(false);
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

/* ---- posix_spawn, whose child libc runs -------------------------------------------------- */

SOCKETS_EXPORT int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *actions, int fd,
                                                    int copy)
{
    sockets_call_prepare();
    sockets_call_hand_over(fd);
    return sockets_real.posix_spawn_file_actions_adddup2(actions, fd, copy);
}

SOCKETS_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                               const posix_spawn_file_actions_t *restrict actions,
                               const posix_spawnattr_t *restrict attributes,
                               char *const argv[restrict], char *const envp[restrict])
{
    sockets_call_prepare();
    sockets_call_hand_over_all();
    return sockets_real.posix_spawn(pid, path, actions, attributes, argv, envp);
}

SOCKETS_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                                const posix_spawn_file_actions_t *restrict actions,
                                const posix_spawnattr_t *restrict attributes,
                                char *const argv[restrict], char *const envp[restrict])
{
    sockets_call_prepare();
    sockets_call_hand_over_all();
    return sockets_real.posix_spawnp(pid, file, actions, attributes, argv, envp);
}
