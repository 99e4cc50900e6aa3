/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream tcp|unix rtt|bulk BYTES MILLISECONDS: two processes with plain sockets, which know of
 * nothing else.  Prints "METRIC NANOSECONDS" for each of ten batches: of a round trip, or of BYTES
 * one way.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 10 };

static size_t bytes;
static char *buffer;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void write_all(int fd)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = write(fd, buffer + done, bytes - done);
        if (n <= 0)
            die("stream: write");
        done += (size_t)n;
    }
}

/* 0 at the end of the stream. */
static int read_all(int fd)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = read(fd, buffer + done, bytes - done);
        if (n < 0)
            die("stream: read");
        if (n == 0)
            return 0;
        done += (size_t)n;
    }
    return 1;
}

static void make_pair(const char *family, int fd[2])
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(in);
    int listener, one = 1;

    if (strcmp(family, "unix") == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
            die("stream: socketpair");
        return;
    }
    listener = socket(AF_INET, SOCK_STREAM, 0);
    fd[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&in, sizeof(in)) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (void *)&in, &length) < 0 ||
        connect(fd[0], (void *)&in, length) < 0 || (fd[1] = accept(listener, NULL, NULL)) < 0)
        die("stream: connect");
    for (int e = 0; e < 2; e++)
        setsockopt(fd[e], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    close(listener);
}

static void serve(int fd, int answers)
{
    while (read_all(fd))
        if (answers)
            write_all(fd);
    _exit(0);
}

/* One round trip; or a stream, of which the pipe between the two is always full. */
static void once(int fd, int answers)
{
    write_all(fd);
    if (answers && !read_all(fd))
        die("stream: the peer has left");
}

int main(int argc, char **argv)
{
    int fd[2], answers;
    double batch_ns;
    pid_t child;

    if (argc != 5 || (bytes = strtoul(argv[3], NULL, 10)) == 0) {
        fprintf(stderr, "usage: stream tcp|unix rtt|bulk BYTES MILLISECONDS\n");
        return 2;
    }
    answers = strcmp(argv[2], "rtt") == 0;
    batch_ns = atof(argv[4]) * 1e6 / BATCHES;
    buffer = calloc(1, bytes);
    make_pair(argv[1], fd);
    if ((child = fork()) < 0)
        die("stream: fork");
    if (child == 0) {
        close(fd[0]);
        serve(fd[1], answers);
    }
    close(fd[1]);
    for (int batch = -1; batch < BATCHES; batch++) { /* the first warms up */
        const double begin = now_ns();
        double passed;
        uint64_t count = 0;

        do {
            for (int i = 0; i < 16; i++)
                once(fd[0], answers);
            count += 16;
        } while ((passed = now_ns() - begin) < batch_ns);
        if (batch >= 0)
            printf("%s_%zu %.1f\n", argv[2], bytes, passed / (double)count);
    }
    close(fd[0]);
    waitpid(child, NULL, 0);
    return 0;
}
