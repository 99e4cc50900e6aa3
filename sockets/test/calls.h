/* SPDX-License-Identifier: BSD-3-Clause
 *
 * calls.h - what the programs have in common that tell what calls on connections do.
 */
#ifndef SOCKETS_TEST_CALLS_H
#define SOCKETS_TEST_CALLS_H

#include "listen.h"
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static struct sockaddr_in address;

static inline void die(const char *what)
{
    perror(what);
    exit(1);
}

static inline void begin_listening(void)
{
    listener = listen_anywhere(SOCK_CLOEXEC, 512, &address);
    if (listener < 0)
        die("listen");
}

/* What a call has returned, in a text that lasts until the next one. */
static inline const char *result(ssize_t n)
{
    static char text[64];

    if (n < 0)
        snprintf(text, sizeof(text), "%s", strerrorname_np(errno));
    else
        snprintf(text, sizeof(text), "%zd", n);
    return text;
}

/* Connect the socket fd[0] to fd[1]. */
static inline void connect_quietly(int fd[2])
{
    int one = 1;

    if (connect(fd[0], (void *)&address, sizeof(address)) < 0 ||
        (fd[1] = accept(listener, NULL, NULL)) < 0)
        die("connect");
    for (int e = 0; e < 2; e++)
        setsockopt(fd[e], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* The same with so much traffic that they are upgraded if they can be. */
static inline void connect_pair(int fd[2])
{
    char byte = 0;

    connect_quietly(fd);
    for (int i = 0; i < 40; i++) {
        if (write(fd[i % 2], &byte, 1) != 1)
            die("warming up, write");
        errno = 0;
        if (read(fd[!(i % 2)], &byte, 1) != 1)
            die("warming up, read");
    }
}

/* A connection with both ends here. */
static inline void make_pair(int fd[2])
{
    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect_pair(fd);
}

static inline void close_pair(const int fd[2])
{
    close(fd[0]);
    close(fd[1]);
}

/* Wait until a thread, of this process or another, is asleep in the kernel. */
static inline void wait_asleep(pid_t thread)
{
    char path[64], line[256], state = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", thread);
    while (state != 'S') {
        FILE *stat = fopen(path, "r");
        if (!stat || !fgets(line, sizeof(line), stat))
            die(path);
        fclose(stat);
        state = strrchr(line, ')')[2];
        sched_yield();
    }
}

/* For a thread that writes a byte once another one sleeps. */
struct waking {
    pid_t thread;
    int fd;
};

static inline void *write_when_asleep(void *argument)
{
    const struct waking *w = argument;

    wait_asleep(w->thread);
    if (write(w->fd, "x", 1) != 1)
        die("write");
    return NULL;
}

#endif
