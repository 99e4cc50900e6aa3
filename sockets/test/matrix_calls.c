/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matrix_calls: what becomes of connections that are handed to others and in programs that use all their descriptors.  It tells what it sees, which has to be
 * the same over plain TCP and over unetsock.
 */
#include "calls.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- descriptors ---------------------------------------------------------------------- */

/* An accepted connection whose other end the library knows nothing of: it waits for a peer that
 * never comes. */
static void make_lonely(int fd[2])
{
    char byte = 0;

    fd[0] = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    if (syscall(SYS_connect, fd[0], &address, sizeof(address)) < 0 ||
        (fd[1] = accept(listener, NULL, NULL)) < 0)
        die("connect");
    for (int i = 0; i < 3; i++)
        if (syscall(SYS_write, fd[0], &byte, 1) != 1 || read(fd[1], &byte, 1) != 1)
            die("warming up");
}

enum { LONELY = 8, FEW = 64 };

/* In a process of its own, with few descriptors, of which the hard limit leaves some more or not.
 */
static void use_all_descriptors(bool has_room)
{
    const struct rlimit limit = {FEW, has_room ? 2 * FEW : FEW};
    int fd[LONELY][2], copies = 0, copy, sockets = 0, closed = 0;

    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < LONELY; i++)
        make_lonely(fd[i]);
    while ((copy = has_room ? open("/dev/null", O_RDONLY) : dup(listener)) >= 0)
        copies++;
    printf("room %d: %d copies, then %s", has_room, copies, result(copy));
    printf(" %s", result(socket(AF_INET, SOCK_STREAM, 0)));
    printf(" %s", result(accept(listener, NULL, NULL)));
    printf(" %s\n", result(fcntl(listener, F_DUPFD, 3)));
    for (int i = 0; i < 4; i++) /* the last ones */
        close(FEW - 1 - i);
    while (socket(AF_INET, SOCK_STREAM, 0) >= 0)
        sockets++;
    printf("sockets: %d, %s\n", sockets, result(write(fd[0][1], "x", 1)));
    for (int i = 3; i < 4 * FEW; i++)
        closed += close(i) == 0;
    printf("closed: %d\n", closed);
}

/* Everything from 3 on is closed, or replaced, by a process that knows nothing of our descriptors;
 * and goes on. */
static void close_all(int how)
{
    int fd[LONELY][2], keep, replaced = 0;
    char byte;

    for (int i = 0; i < LONELY; i++)
        make_lonely(fd[i]);
    keep = dup2(fd[0][1], 100);
    syscall(SYS_dup2, fd[0][0], 101);
    if (how == 0)
        close_range(3, 99, 0);
    else if (how == 1)
        for (int i = 102; i < (int)sysconf(_SC_OPEN_MAX) && i < 30000; i++)
            replaced += dup2(0, i) == i;
    if (how == 2)
        closefrom(102);
    if (how == 1)
        closefrom(102);
    for (int i = 0; i < 40; i++)
        if (write(keep, "x", 1) != 1 || syscall(SYS_read, 101, &byte, 1) != 1 ||
            syscall(SYS_write, 101, "y", 1) != 1 || read(keep, &byte, 1) != 1)
            die("after close_range");
    printf("closed all, %d: %d %c", how, replaced, byte);
    printf(" %s\n", result(fcntl(90, F_GETFD)));
}

static void in_child(void (*test)(int), int argument)
{
    int status;
    pid_t child;

    fflush(stdout);
    if ((child = fork()) == 0) {
        test(argument);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &status, 0);
    printf("exit: %d\n", status);
}

static void use_all(int has_room)
{
    use_all_descriptors(has_room);
}

static void test_descriptors(void)
{
    in_child(use_all, 1);
    in_child(use_all, 0);
    for (int how = 0; how < 3; how++)
        in_child(close_all, how);
}

int main(int argc, char **argv)
{
    const struct rlimit limit = {4096, 4096};

    alarm(50);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    setrlimit(RLIMIT_NOFILE, &limit);
    begin_listening();
    if (argc < 2 || strcmp(argv[1], "descriptors") == 0)
        test_descriptors();
    return 0;
}
