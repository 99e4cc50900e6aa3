/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream tcp|unix|INTERFACE,PID,PID rtt|bulk BYTES MILLISECONDS: two processes with plain sockets,
 * which know of nothing else; in the third case in the networks of two processes (0: in ours), with
 * TCP between the addresses of the interface of that name there.  Prints "METRIC NANOSECONDS" for
 * each of ten batches: of a round trip, or of BYTES one way.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* ---- on two hosts ---------------------------------------------------------------------- */

struct place {
    char interface[IFNAMSIZ];
    int pid[2];
};

static int place_of(const char *text, struct place *place)
{
    return sscanf(text, "%15[^,],%d,%d", place->interface, &place->pid[0], &place->pid[1]) == 3;
}

static void enter(int pid)
{
    char path[64];
    int fd;

    if (pid == 0)
        return;
    snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) < 0)
        die("stream: setns");
    close(fd);
}

static struct sockaddr_in address_here(const char *interface)
{
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in in;
    struct ifreq request = {0};

    strcpy(request.ifr_name, interface);
    if (ioctl(fd, SIOCGIFADDR, &request) < 0)
        die("stream: no address at the interface");
    close(fd);
    memcpy(&in, &request.ifr_addr, sizeof(in));
    in.sin_port = 0;
    return in;
}

static int listen_there(const struct place *place, int tell)
{
    struct sockaddr_in in;
    socklen_t length = sizeof(in);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    int fd = -1;

    in = address_here(place->interface);
    if (bind(listener, (void *)&in, sizeof(in)) < 0 || listen(listener, 1) < 0 ||
        getsockname(listener, (void *)&in, &length) < 0 ||
        write(tell, &in, sizeof(in)) != sizeof(in) || (fd = accept(listener, NULL, NULL)) < 0)
        die("stream: listen");
    close(listener);
    return fd;
}

static int connect_there(int told)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in in;

    if (read(told, &in, sizeof(in)) != sizeof(in) || connect(fd, (void *)&in, sizeof(in)) < 0)
        die("stream: connect");
    return fd;
}

static void send_at_once(int fd)
{
    const int one = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* ---- both ------------------------------------------------------------------------------ */

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

/* Our end, and a child that has the other one. */
static int begin(const char *family, int answers, pid_t *child)
{
    struct place place;
    const int hosts = place_of(family, &place);
    int fd[2];

    if (hosts ? pipe(fd) < 0 : (make_pair(family, fd), 0))
        die("stream: pipe");
    if ((*child = fork()) < 0)
        die("stream: fork");
    if (*child == 0) {
        if (hosts) {
            enter(place.pid[1]);
            fd[1] = listen_there(&place, fd[1]);
            send_at_once(fd[1]);
        } else {
            close(fd[0]);
        }
        serve(fd[1], answers);
    }
    close(fd[1]);
    if (hosts) {
        enter(place.pid[0]);
        fd[0] = connect_there(fd[0]);
        send_at_once(fd[0]);
    }
    return fd[0];
}

int main(int argc, char **argv)
{
    int fd, answers;
    double batch_ns;
    pid_t child;

    if (argc != 5 || (bytes = strtoul(argv[3], NULL, 10)) == 0) {
        fprintf(stderr, "usage: stream tcp|unix|INTERFACE,PID,PID rtt|bulk BYTES MILLISECONDS\n");
        return 2;
    }
    answers = strcmp(argv[2], "rtt") == 0;
    batch_ns = atof(argv[4]) * 1e6 / BATCHES;
    buffer = calloc(1, bytes);
    fd = begin(argv[1], answers, &child);
    for (int batch = -1; batch < BATCHES; batch++) { /* the first warms up */
        const double start = now_ns();
        double passed;
        uint64_t count = 0;

        do {
            for (int i = 0; i < 16; i++)
                once(fd, answers);
            count += 16;
        } while ((passed = now_ns() - start) < batch_ns);
        if (batch >= 0)
            printf("%s_%zu %.1f\n", argv[2], bytes, passed / (double)count);
    }
    close(fd);
    waitpid(child, NULL, 0);
    return 0;
}
