/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stream tcp|unix|INTERFACE,PID,PID KIND BYTES MILLISECONDS: two processes with plain sockets,
 * which know of nothing else; where they meet, pair.h tells.  Prints "KIND_BYTES NANOSECONDS" for
 * each of ten batches: of a round trip (rtt), of a message of BYTES one way (bulk, burst, ttcp,
 * netperf), of a connection with one request (connect), or once the processor time that a process
 * takes in a second in which nothing comes for it (idle).
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"

enum { BATCHES = 10, BURST = 500, TTCP_WRITES = 2048, NETPERF_READ = 128 << 10, SETTLES_MS = 50 };

enum reads { WHOLE, AS_LONG, LONG };

struct kind {
    const char *name;
    /* Nanoseconds for each message in a batch of about so many nanoseconds. */
    double (*batch)(const struct kind *kind, double batch_ns);
    unsigned asks;    /* every so many messages the receiver answers; 0: never */
    size_t answer;    /* bytes of an answer; 0: as many as a message */
    enum reads reads; /* a whole message, what has come of one, or what has come of many */
    int delays;       /* Nagle's algorithm stays on */
};

static struct meeting meeting;
static size_t bytes, read_bytes;
static char *buffer;
static pid_t child;

static double now_of(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) < 0)
        die("stream: clock_gettime");
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double now_ns(void)
{
    return now_of(CLOCK_MONOTONIC);
}

static void write_all(int fd, size_t length)
{
    for (size_t done = 0; done < length;) {
        const ssize_t n = write(fd, buffer + done, length - done);
        if (n <= 0)
            die("stream: write");
        done += (size_t)n;
    }
}

static size_t read_some(int fd, size_t length)
{
    const ssize_t n = read(fd, buffer, length);

    if (n < 0)
        die("stream: read");
    return (size_t)n;
}

/* 0 at the end of the stream. */
static int read_all(int fd, size_t length)
{
    for (size_t left = length; left > 0;) {
        const size_t n = read_some(fd, left);
        if (n == 0)
            return 0;
        left -= n;
    }
    return 1;
}

static size_t answer_bytes(const struct kind *kind)
{
    return kind->answer ? kind->answer : bytes;
}

/* ---- the receiver ---------------------------------------------------------------------- */

static void serve(const struct kind *kind, int fd)
{
    if (kind->reads != WHOLE) {
        while (read_some(fd, read_bytes) > 0) {
        }
        return;
    }
    for (unsigned n = 1; read_all(fd, bytes); n++)
        if (kind->asks && n % kind->asks == 0)
            write_all(fd, answer_bytes(kind));
}

/* One connection after the other, until the sender ends this process or ends itself. */
static void begin_receiver(const struct kind *kind)
{
    const pid_t parent = getpid();

    if ((child = fork()) < 0)
        die("stream: fork");
    if (child > 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent) {
        const int fd = meeting_accept(&meeting, kind->delays);
        serve(kind, fd);
        close(fd);
    }
    _exit(1);
}

/* ---- the sender ------------------------------------------------------------------------ */

static void wait_for_answer(const struct kind *kind, int fd)
{
    if (!read_all(fd, answer_bytes(kind)))
        die("stream: the peer has left");
}

/* One round trip, a burst and its answer, or a part of a stream, of which the pipe between the two
 * is always full. */
static void exchange(const struct kind *kind, int fd)
{
    for (unsigned i = 0; i < (kind->asks ? kind->asks : 1); i++)
        write_all(fd, bytes);
    if (kind->asks)
        wait_for_answer(kind, fd);
}

/* On one connection, which all batches share. */
static double exchanges(const struct kind *kind, double batch_ns)
{
    static int fd = -1;
    const unsigned messages = kind->asks ? kind->asks : 1, between_looks = messages > 1 ? 1 : 16;
    double start, passed;
    uint64_t count = 0;

    if (fd < 0)
        fd = meeting_connect(&meeting, kind->delays);
    start = now_ns();
    do {
        for (unsigned i = 0; i < between_looks; i++)
            exchange(kind, fd);
        count += between_looks;
    } while ((passed = now_ns() - start) < batch_ns);
    return passed / (double)count / messages;
}

/* A connection for each exchange. */
static double connections(const struct kind *kind, double batch_ns)
{
    const double start = now_ns();
    double passed;
    uint64_t count = 0;

    do {
        const int fd = meeting_connect(&meeting, kind->delays);
        exchange(kind, fd);
        close(fd);
        count++;
    } while ((passed = now_ns() - start) < batch_ns);
    return passed / (double)count;
}

/* A connection on which so many messages go or, if 0, as many as the time allows, until the
 * receiver has seen its end. */
static double transfer(const struct kind *kind, unsigned messages, double batch_ns)
{
    const int fd = meeting_connect(&meeting, kind->delays);
    const double start = now_ns();
    uint64_t count = 0;

    do {
        write_all(fd, bytes);
        count++;
    } while (messages ? count < messages : now_ns() - start < batch_ns);
    shutdown(fd, SHUT_WR);
    if (read_some(fd, 1) != 0)
        die("stream: the peer answers");
    close(fd);
    return (now_ns() - start) / (double)count;
}

static double ttcp(const struct kind *kind, double batch_ns)
{
    return transfer(kind, TTCP_WRITES, batch_ns);
}

static double netperf(const struct kind *kind, double batch_ns)
{
    return transfer(kind, 0, batch_ns);
}

static void sleep_ns(double ns)
{
    const struct timespec t = {.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)ns % 1000000000};

    nanosleep(&t, NULL);
}

/* The receiver waits for a message on a connection that has been used. */
static double idle(const struct kind *kind, double batch_ns)
{
    const double all_ns = batch_ns * BATCHES;
    clockid_t clock;
    double before;

    exchanges(kind, batch_ns);
    if (clock_getcpuclockid(child, &clock) != 0)
        die("stream: clock_getcpuclockid");
    sleep_ns(SETTLES_MS * 1e6);
    before = now_of(clock);
    sleep_ns(all_ns);
    return (now_of(clock) - before) * 1e9 / all_ns;
}

/* ---- the kinds ------------------------------------------------------------------------- */

/* burst, ttcp and netperf are what the paper on Fast Sockets measured: so many sends and an
 * answer, a number of writes, and as many writes as a time allows to a reader of much at once. */
static const struct kind kinds[] = {
    {.name = "rtt", .batch = exchanges, .asks = 1},
    {.name = "bulk", .batch = exchanges},
    {.name = "burst", .batch = exchanges, .asks = BURST, .answer = 1},
    {.name = "ttcp", .batch = ttcp, .reads = AS_LONG, .delays = 1},
    {.name = "netperf", .batch = netperf, .reads = LONG, .delays = 1},
    {.name = "connect", .batch = connections, .asks = 1},
    {.name = "idle", .batch = idle, .asks = 1},
};

static const struct kind *kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static void measure(const struct kind *kind, double batch_ns)
{
    if (kind->batch == idle) {
        printf("%s_%zu %.1f\n", kind->name, bytes, idle(kind, batch_ns));
        return;
    }
    kind->batch(kind, batch_ns); /* warms up */
    for (int batch = 0; batch < BATCHES; batch++)
        printf("%s_%zu %.1f\n", kind->name, bytes, kind->batch(kind, batch_ns));
}

int main(int argc, char **argv)
{
    const struct kind *kind = argc == 5 ? kind_of(argv[2]) : NULL;

    if (!kind || (bytes = strtoul(argv[3], NULL, 10)) == 0) {
        fprintf(stderr, "usage: stream tcp|unix|INTERFACE,PID,PID "
                        "rtt|bulk|burst|ttcp|netperf|connect|idle BYTES MILLISECONDS\n");
        return 2;
    }
    read_bytes = kind->reads == LONG ? NETPERF_READ : bytes;
    buffer = calloc(1, bytes > read_bytes ? bytes : read_bytes);
    meeting_listen(&meeting, argv[1]);
    begin_receiver(kind);
    meeting_leave(&meeting);
    measure(kind, atof(argv[4]) * 1e6 / BATCHES);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
