/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matrix.h - what the programs have in common that tell what becomes of connections in unusual
 * places: here, or between hosts.
 */
#ifndef SOCKETS_TEST_MATRIX_H
#define SOCKETS_TEST_MATRIX_H

#include "calls.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* "far": what is written has not arrived yet when write returns, as between hosts. */
static bool far;

/* For a program whose arguments are a test's name, or none for all of them, and "far". */
static inline int begin(int argc, char **argv)
{
    const struct rlimit limit = {4096, 4096};

    far = argc > 1 && strcmp(argv[argc - 1], "far") == 0;
    alarm(50);
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    setrlimit(RLIMIT_NOFILE, &limit);
    begin_listening();
    return argc - far;
}

/* Whether a test is wanted. */
static inline bool is_wanted(int argc, char **argv, const char *test)
{
    return argc < 2 || strcmp(argv[1], test) == 0;
}

/* An accepted connection whose other end the library knows nothing of: it waits for a peer that
 * never comes. */
static inline void make_lonely(int fd[2])
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

/* What was written may be on its way for a while. */
static inline int await_unread(int fd, int least)
{
    int bytes = 0;

    for (int turns = 0; bytes < least && turns < 100000; turns++, sched_yield())
        if (ioctl(fd, FIONREAD, &bytes) < 0)
            die("FIONREAD");
    return bytes;
}

#endif
