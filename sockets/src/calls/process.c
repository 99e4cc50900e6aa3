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
#include "real/hidden.h"
#include "record/pause.h"
#include "spin/core.h"
#include "spin/spin.h"
#include "stream/round.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
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

/* Among the handlers of other libraries: what waits for other threads, or may want memory. */
static void before_fork(void)
{
    const uint64_t until = sockets_now_ns() + RETIRE_NS;

    sockets_core_release();
    sockets_upgrade_before_fork();
    retire_carriers(BEGIN, until);
    retire_carriers(READERS, until);
    retire_carriers(WRITERS, until);
    sockets_epoll_share_all();
}

static void after_fork(void)
{
    sockets_epoll_after_fork(false);
    sockets_upgrade_after_fork(false);
}

/* Next to the fork itself.  Others have their locks already, for which threads may wait that have
 * not got ours; who has ours waits for nobody, and asks nobody for memory.  No handler of a signal
 * calls anything here meanwhile. */
static sigset_t mask_before_fork;

/* One that is ignored is dropped as it comes, but kept where it is blocked, and would interrupt
 * another thread then. */
static void leave_to_be_ignored(sigset_t *blocked)
{
    static const int by_default[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT};
    struct sigaction action;

    for (size_t i = 0; i < sizeof(by_default) / sizeof(*by_default); i++)
        if (sigaction(by_default[i], NULL, &action) == 0 &&
            (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
            sigdelset(blocked, by_default[i]);
}

void sockets_process_block_handlers(sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    leave_to_be_ignored(&all);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

static void lock_all(void)
{
    sigset_t before;

    sockets_process_block_handlers(&before);
    sockets_table_lock();
    sockets_epoll_lock_all();
    sockets_stream_lock_all();
    sockets_hidden_lock_limit();
    mask_before_fork = before;
}

static void unlock_all(void)
{
    const sigset_t before = mask_before_fork;

    sockets_hidden_unlock_limit();
    sockets_stream_unlock_all();
    sockets_epoll_unlock_all();
    sockets_table_unlock(true); /* a fork may have failed, which is not told here */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void after_fork_child(void)
{
    sockets_table_forked();
    pthread_sigmask(SIG_SETMASK, &mask_before_fork, NULL);
}

/* Before a clone no handler ran: whether anything is locked is the parent's affair. */
static void begin_child(void)
{
    sockets_hidden_after_fork();
    sockets_lock_after_fork();
    sockets_core_after_fork();
    sockets_record_after_fork();
    sockets_upgrade_after_fork(true);
    sockets_agent_after_fork();
    sockets_road_after_fork();
    sockets_stream_after_fork();
    sockets_table_after_fork();
    sockets_epoll_after_fork(true);
}

typedef int register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                            void *library);
static register_atfork *real_register_atfork;
static pthread_once_t registered = PTHREAD_ONCE_INIT;
register_atfork __register_atfork;

static void register_first(void)
{
    sockets_table_begin_child = begin_child;
    *(void **)&real_register_atfork = dlsym(RTLD_NEXT, "__register_atfork");
    real_register_atfork(lock_all, unlock_all, after_fork_child, NULL);
}

/* What pthread_atfork calls, of any library: handlers that come first are next to the fork.  The
 * others may be an allocator's, which is not ready for more. */
SOCKETS_EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void),
                                     void (*child)(void), void *library)
{
    pthread_once(&registered, register_first);
    return real_register_atfork(prepare, parent, child, library);
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
    sockets_stream_descriptor_of = sockets_table_descriptor_now;
    sockets_stream_on_cancel = sockets_table_leave;
    sockets_stream_on_taken = sockets_epoll_taken;
    sockets_table_is_ours(); /* from now on */
    pthread_atfork(before_fork, after_fork, NULL);
    sockets_process_ready = true;
    sockets_watch_init();
    sockets_core_init(); /* these make calls of their own */
    sockets_meet_init();
}

void sockets_process_init(void)
{
    pthread_once(&once, init);
}

__attribute__((constructor)) static void begin(void)
{
    sockets_process_init();
}

/* Not in the child of a vfork, whose parent goes on. */
__attribute__((destructor)) static void end(void)
{
    if (!sockets_table_is_ours())
        return;
    sockets_table_end();
    sockets_epoll_end();
}

SOCKETS_EXPORT void _exit(int status)
{
    sockets_call_prepare();
    end();
    sockets_real._exit(status);
    __builtin_unreachable();
}

SOCKETS_EXPORT void _Exit(int status)
{
    _exit(status);
}

/* ---- exec ------------------------------------------------------------------------- */

/* Other processes may keep what is closed here. */
static void exec_takes_away(bool failed)
{
    const int error = errno;

    if (!sockets_table_is_ours())
        return;
    sockets_table_exec(failed);
    sockets_epoll_exec(failed);
    errno = error;
}

/* A program that is executed has the descriptors that are not closed, and not our memory. */
static void before_exec(void)
{
    sockets_call_prepare();
    sockets_core_release();
    sockets_call_hand_over_all();
    retire_carriers(WRITERS, sockets_now_ns() + RETIRE_NS); /* those that exec closes */
    exec_takes_away(false);
}

SOCKETS_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    before_exec();
    sockets_real.execve(path, argv, envp);
    exec_takes_away(true);
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
    exec_takes_away(true);
    return -1;
}

SOCKETS_EXPORT int execvp(const char *file, char *const argv[])
{
    return execvpe(file, argv, environ);
}

SOCKETS_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    before_exec();
    sockets_real.fexecve(fd, argv, envp);
    exec_takes_away(true);
    return -1;
}

SOCKETS_EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[],
                            int flags)
{
    before_exec();
    sockets_real.execveat(folder, path, argv, envp, flags);
    exec_takes_away(true);
    return -1;
}

/* What execl and its like are given: arguments up to a null, and the environment, if it is given.
 * They are laid out on the stack, as the child of a vfork may not ask for memory. */
typedef int execute(const char *file, char *const argv[], char *const envp[]);

static int execute_list(execute *how, const char *file, const char *first, va_list more,
                        bool has_environment)
{
    size_t words = 1;
    char **argv;
    va_list again;

    va_copy(again, more);
    for (const char *word = first; word; word = va_arg(again, const char *))
        words++;
    va_end(again);
    argv = __builtin_alloca(words * sizeof(*argv));
    argv[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i < words; i++)
        argv[i] = va_arg(more, char *);
    return how(file, argv, has_environment ? va_arg(more, char *const *) : environ);
}

SOCKETS_EXPORT int execl(const char *path, const char *first, ...)
{
    va_list more;
    int result;

    va_start(more, first);
    result = execute_list(execve, path, first, more, false);
    va_end(more);
    return result;
}

SOCKETS_EXPORT int execle(const char *path, const char *first, ...)
{
    va_list more;
    int result;

    va_start(more, first);
    result = execute_list(execve, path, first, more, true);
    va_end(more);
    return result;
}

SOCKETS_EXPORT int execlp(const char *file, const char *first, ...)
{
    va_list more;
    int result;

    va_start(more, first);
    result = execute_list(execvpe, file, first, more, false);
    va_end(more);
    return result;
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
    sockets_core_release();
    sockets_call_hand_over_all();
    return sockets_real.posix_spawn(pid, path, actions, attributes, argv, envp);
}

SOCKETS_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                                const posix_spawn_file_actions_t *restrict actions,
                                const posix_spawnattr_t *restrict attributes,
                                char *const argv[restrict], char *const envp[restrict])
{
    sockets_call_prepare();
    sockets_core_release();
    sockets_call_hand_over_all();
    return sockets_real.posix_spawnp(pid, file, actions, attributes, argv, envp);
}
