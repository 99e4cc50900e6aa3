/* SPDX-License-Identifier: BSD-3-Clause
 *
 * process_calls: what connections do when processes fork, execute, share their memory, close
 * without close(2), and die.  It tells what it sees, which has to be the same over plain TCP and
 * over unetsock.
 */
#include "calls.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

/* ---- processes ------------------------------------------------------------------------- */

static void test_fork(void)
{
    char text[32] = "";
    int fd[2], status;
    pid_t child;

    make_pair(fd);
    if (write(fd[0], "before ", 7) != 7)
        die("write");
    fflush(stdout);
    if ((child = fork()) == 0) {
        close(fd[0]);
        if (read(fd[1], text, 7) != 7 || write(fd[1], text, 7) != 7 || read(fd[1], text, 6) != 6 ||
            write(fd[1], text, 6) != 6)
            _exit(1);
        _exit(0);
    }
    close(fd[1]);
    if (write(fd[0], "after ", 6) != 6)
        die("write");
    printf("fork: %s", result(recv(fd[0], text, 13, MSG_WAITALL)));
    waitpid(child, &status, 0);
    printf(" '%s' %d", text, WEXITSTATUS(status));
    printf(" %s\n", result(read(fd[0], text, 1)));
    close(fd[0]);
}

enum way { EXECVP, EXECV, EXECL, EXECLE, EXECLP, FEXECVE, EXECVEAT, BY_NUMBER, WAYS };

enum { NUMBER = 9 }; /* that no other file has, and no FILE */

/* Become a program that sends back what comes. */
static void execute(enum way way)
{
    char *const argv[] = {"sh", "-c", "exec cat <&9 >&9", NULL}, *const none[] = {NULL};
    const char *const path = "/bin/sh";

    if (way == EXECVP)
        execvp(argv[0], argv);
    else if (way == EXECV)
        execv(path, argv);
    else if (way == EXECL)
        execl(path, argv[0], argv[1], argv[2], (char *)NULL);
    else if (way == EXECLE)
        execle(path, argv[0], argv[1], argv[2], (char *)NULL, none);
    else if (way == EXECLP)
        execlp(argv[0], argv[0], argv[1], argv[2], (char *)NULL);
    else if (way == FEXECVE)
        fexecve(open(path, O_RDONLY | O_CLOEXEC), argv, none);
    else if (way == EXECVEAT)
        execveat(AT_FDCWD, path, argv, none, 0);
    else
        syscall(SYS_execve, path, argv, none);
}

static void test_exec(enum way way)
{
    char text[32] = "";
    int fd[2], executed[2], status;
    pid_t child;

    make_pair(fd);
    fflush(stdout);
    if (pipe2(executed, O_CLOEXEC) < 0)
        die("pipe2");
    if ((child = fork()) == 0) {
        close(fd[0]);
        dup2(fd[1], NUMBER);
        close(fd[1]);
        execute(way);
        _exit(127);
    }
    close(fd[1]);
    close(executed[1]);
    if (read(executed[0], text, 1) != 0)
        die("exec");
    close(executed[0]);
    if (write(fd[0], "through cat", 11) != 11)
        die("write");
    printf("exec %d: %s", way, result(recv(fd[0], text, 11, MSG_WAITALL)));
    shutdown(fd[0], SHUT_WR);
    printf(" %s", result(read(fd[0], text + 11, 1)));
    waitpid(child, &status, 0);
    printf(" '%s' %d\n", text, WEXITSTATUS(status));
    close(fd[0]);
}

/* Closed with something unread while a child executes another program, or runs it, which has not
 * got the connection. */
static void test_closed_beside_exec(void)
{
    int fd[2], executed[2];
    pid_t child;
    char byte;

    make_pair(fd);
    for (int e = 0; e < 2; e++)
        fcntl(fd[e], F_SETFD, FD_CLOEXEC);
    if (pipe2(executed, O_CLOEXEC) < 0 || write(fd[0], "unread", 6) != 6)
        die("pipe2, write");
    fflush(stdout);
    if ((child = fork()) == 0) {
        execlp("sleep", "sleep", "20", (char *)NULL);
        _exit(127);
    }
    close(executed[1]);
    if (read(executed[0], &byte, 1) != 0)
        die("exec");
    close(executed[0]);
    close(fd[1]);
    printf("closed beside exec: %s", result(read(fd[0], &byte, 1)));
    printf(" %s\n", result(read(fd[0], &byte, 1)));
    close(fd[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* What a child does that has descriptors of its own, and its parent's memory. */
static int close_mine(void *fds)
{
    const int *fd = fds;

    close(fd[0]);
    close(fd[1]);
    _exit(3);
}

/* The connection of the parent, one of whose ends has something to read. */
static void open_half_read(int fd[2])
{
    const struct timeval patience = {.tv_sec = 2};

    make_pair(fd);
    setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (write(fd[1], "unread", 6) != 6)
        die("write");
}

/* It is as before, whatever the child did. */
static void end_half_read(const char *name, const int fd[2], pid_t child)
{
    char text[8] = "";
    int status;

    waitpid(child, &status, 0);
    printf("%s: %d %s", name, WEXITSTATUS(status), result(read(fd[0], text, 6)));
    printf(" '%s' %s", text, result(write(fd[0], "still", 5)));
    printf(" %s\n", result(recv(fd[1], text, 5, MSG_WAITALL)));
    close_pair(fd);
}

static void test_vfork(void)
{
    int fd[2];
    pid_t child;

    open_half_read(fd);
    child = vfork();
    if (child == 0)
        close_mine(fd);
    end_half_read("vfork", fd, child);
}

static void test_clone(void)
{
    static _Alignas(64) char stack[256 << 10];
    int fd[2];
    pid_t child;

    open_half_read(fd);
    child = clone(close_mine, stack + sizeof stack, CLONE_VM | SIGCHLD, fd);
    if (child < 0)
        die("clone");
    end_half_read("clone", fd, child);
}

/* ---- closed behind libc's back ----------------------------------------------------------- */

static int close_by_syscall(int fd)
{
    return (int)syscall(SYS_close, fd);
}

/* A peer that sleeps hears of it. */
static void test_raw_close(void)
{
    char byte;
    int fd[2], status;
    pid_t child;

    make_pair(fd);
    if ((child = fork()) == 0) {
        close(fd[0]);
        _exit(read(fd[1], &byte, 1) == 0 ? 7 : 8);
    }
    close(fd[1]);
    wait_asleep(child);
    close_by_syscall(fd[0]);
    waitpid(child, &status, 0);
    printf("raw close: %d\n", WEXITSTATUS(status));
}

/* The number serves the next connection, also if libc alone has closed it, and nothing of ours. */
static void test_number_after(int (*close_old)(int fd), bool has_unread)
{
    char text[8] = "";
    int old[2], new[2];

    make_pair(old);
    if (has_unread && write(old[1], "old", 3) != 3)
        die("write");
    close_old(old[0]);
    make_pair(new);
    printf("next connection: %d %s", new[0] == old[0], result(write(new[0], "new", 3)));
    printf(" %s '%s'", result(recv(new[1], text, 3, MSG_WAITALL)), text);
    if (!has_unread)
        printf(" %s", result(read(old[1], text, 1)));
    close(new[0]);
    printf(" %s\n", result(read(new[1], text, 1)));
    close(new[1]);
    close(old[1]);
}

/* ---- killed ------------------------------------------------------------------------------- */

static void test_killed(void)
{
    char text[64];
    ssize_t n, got = 0;
    int fd[2];
    pid_t child;

    make_pair(fd);
    fflush(stdout);
    if ((child = fork()) == 0) {
        close(fd[0]);
        if (write(fd[1], "last words", 10) == 10)
            read(fd[1], text, 1);
        _exit(0);
    }
    close(fd[1]);
    while (got < 10 && (n = read(fd[0], text, sizeof(text))) > 0)
        got += n;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("killed: %zd %s\n", got, result(read(fd[0], text, 1)));
    close(fd[0]);
}

enum { POLLED = 4 };

/* Whether select, or poll of `count` connections, tells of more than space. */
static bool tells_of_ends(const int (*fd)[2], int count, bool by_select)
{
    struct pollfd p[POLLED];
    struct timeval second = {1, 0};
    fd_set readable, writable;
    bool told = true;

    FD_ZERO(&readable);
    FD_ZERO(&writable);
    FD_SET(fd[0][0], &readable);
    FD_SET(fd[0][0], &writable);
    if (by_select)
        return select(fd[0][0] + 1, &readable, &writable, NULL, &second) > 0 &&
               FD_ISSET(fd[0][0], &readable);
    for (int i = 0; i < count; i++)
        p[i] = (struct pollfd){.fd = fd[i][0], .events = POLLIN | POLLOUT};
    if (poll(p, (nfds_t)count, 1000) != count)
        die("poll");
    for (int i = 0; i < count; i++)
        told = told && p[i].revents != POLLOUT;
    return told;
}

/* Peers that were killed said nothing into the rings, which tell of space all the time: who asks
 * for it, about one connection or about two pairs of them in turns, is told of the ends as well. */
static void test_killed_and_polled(int count, bool by_select)
{
    bool told[2] = {false, false};
    int fd[POLLED][2];
    pid_t child;

    for (int i = 0; i < POLLED; i++)
        make_pair(fd[i]);
    fflush(stdout);
    if ((child = fork()) == 0) {
        for (int i = 0; i < POLLED; i++)
            close(fd[i][0]);
        for (;;)
            pause();
    }
    for (int i = 0; i < POLLED; i++)
        close(fd[i][1]);
    tells_of_ends(fd, count, by_select);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    for (int turn = 0; turn < 1000 && !(told[0] && told[1]); turn++)
        for (int which = 0; which < 2; which++)
            told[which] |= tells_of_ends(fd + 2 * which, count, by_select);
    printf("killed and polled %d %d: %d %d\n", count, by_select, told[0], told[1]);
    for (int i = 0; i < POLLED; i++)
        close(fd[i][0]);
}

/* Of two processes that have a connection the one that reads is killed, and not reaped before the
 * other one reads. */
static void test_killed_and_not_reaped(void)
{
    siginfo_t info;
    char byte = 0;
    int fd[2];
    pid_t child;

    make_pair(fd);
    fflush(stdout);
    if ((child = fork()) == 0)
        _exit(read(fd[0], &byte, 1) == 1);
    wait_asleep(child);
    kill(child, SIGKILL);
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    if (write(fd[1], "x", 1) != 1)
        die("write");
    printf("not reaped: %s", result(read(fd[0], &byte, 1)));
    printf(" %c\n", byte);
    waitpid(child, NULL, 0);
    close_pair(fd);
}

/* ---- killed while it wakes another one ----------------------------------------------------- */

enum { AT_ENTRY, AT_EXIT, NEVER }; /* of the system call that sends one byte */

struct sleeper {
    int fd;
    _Atomic pid_t thread;
    char text[32 << 10];
    ssize_t got;
};

static bool ends_with(const struct sleeper *r, const char *words)
{
    const ssize_t length = (ssize_t)strlen(words);

    return r->got >= length && memcmp(r->text + r->got - length, words, (size_t)length) == 0;
}

/* Reads until the second message of the process that survives. */
static void *read_all(void *argument)
{
    struct sleeper *r = argument;
    ssize_t n;

    r->thread = gettid();
    while (!ends_with(r, "again") &&
           (n = read(r->fd, r->text + r->got, sizeof(r->text) - (size_t)r->got)) > 0)
        r->got += n;
    return NULL;
}

/* Run a stopped process until it is to be killed, or ends. */
static void trace_until(pid_t child, int stop)
{
    struct __ptrace_syscall_info info;
    bool wakes = false;
    int status;

    if (ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
        die("ptrace");
    while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 && waitpid(child, &status, 0) == child &&
           WIFSTOPPED(status)) {
        if (WSTOPSIG(status) != (SIGTRAP | 0x80) ||
            ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) <= 0)
            continue;
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
            wakes = info.entry.nr == SYS_sendto && info.entry.args[2] == 1;
        if (wakes && (info.op == PTRACE_SYSCALL_INFO_ENTRY) == (stop == AT_ENTRY)) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return;
        }
    }
}

/* Two processes have a connection, whose other end sleeps, for ever or for some time.  One is
 * killed while it wakes that end; what the other one sends arrives all the same, and nothing else.
 */
static void test_killed_waking(bool limited, int stop)
{
    const struct timeval limit = {4, 0};
    struct sleeper r = {.got = 0};
    struct timespec until;
    static char many[20000];
    int fd[2], status;
    pthread_t id;
    ssize_t of_child;
    pid_t child;

    make_pair(fd);
    r.fd = fd[1];
    if (limited)
        setsockopt(fd[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    fflush(stdout);
    if ((child = fork()) == 0) {
        close(fd[1]);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        _exit(write(fd[0], many, sizeof(many)) != sizeof(many));
    }
    waitpid(child, &status, WUNTRACED);
    pthread_create(&id, NULL, read_all, &r);
    while (r.thread == 0)
        sched_yield();
    wait_asleep(r.thread);
    trace_until(child, stop);
    if (write(fd[0], "parent", 6) != 6)
        die("write");
    wait_asleep(r.thread);
    if (write(fd[0], "again", 5) != 5)
        die("write");
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    printf("killed waking %d %d: %d", limited, stop, pthread_timedjoin_np(id, NULL, &until));
    of_child = r.got - (ssize_t)strlen("parentagain");
    printf(" %d", ends_with(&r, "parentagain"));
    printf(" %d\n", of_child == 0 || of_child == sizeof(many));
    close_pair(fd);
}

int main(void)
{
    alarm(50);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    begin_listening();
    test_fork();
    for (enum way way = 0; way < WAYS; way++)
        test_exec(way);
    test_closed_beside_exec();
    test_clone();
    test_vfork();
    test_raw_close();
    for (int has_unread = 0; has_unread < 2; has_unread++) {
        test_number_after(close_by_syscall, has_unread);
        test_number_after(dlsym(dlopen("libc.so.6", RTLD_LAZY), "close"), has_unread);
    }
    test_killed();
    test_killed_and_not_reaped();
    test_killed_and_polled(1, false);
    test_killed_and_polled(1, true);
    test_killed_and_polled(2, false);
    for (int stop = AT_ENTRY; stop <= NEVER; stop++) {
        test_killed_waking(false, stop);
        test_killed_waking(true, stop);
    }
    return 0;
}
