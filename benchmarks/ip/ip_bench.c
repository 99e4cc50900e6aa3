/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip_bench WHO BACKEND rtt|bulk BYTES MILLISECONDS INTERFACE PID PID: two processes, in the network
 * namespaces of those pids (0: this one).  WHO is `unet`, messages of U-Net of at most 1,500 bytes;
 * `tcp` or `udp` of libunet-ip; or `kernel`, its TCP.  Prints "METRIC NANOSECONDS" for each of ten
 * batches: of a round trip of BYTES, or of 1,500 bytes of a stream.
 */
#include "ip_bench.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 10, STREAM = 1 << 20, UNIT = 1500 };

uint8_t *bench_buffer;

void bench_need(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "ip_bench: %s failed\n", what);
    exit(1);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void enter_host(const char *pid, const char *interface)
{
    char path[64];
    int fd;

    if (strcmp(pid, "0") == 0)
        return;
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    bench_need(fd >= 0 && setns(fd, CLONE_NEWNET) == 0, "entering a host");
    close(fd);
    setenv("UNET_INTERFACE", interface, 1);
}

static void answer(const struct bench_way *way, bool rtt, size_t bytes)
{
    for (;;) {
        way->receive(rtt ? bytes : STREAM);
        way->send(rtt ? bytes : 1);
    }
}

static void ask(const struct bench_way *way, bool rtt, size_t bytes)
{
    way->send(rtt ? bytes : STREAM);
    way->receive(rtt ? bytes : 1);
}

static void measure(const struct bench_way *way, bool rtt, size_t bytes, double batch_ns)
{
    for (int i = 0; i < (rtt ? 50 : 2); i++)
        ask(way, rtt, bytes);
    for (int batch = 0; batch < BATCHES; batch++) {
        const double start = now_ns();
        unsigned count = 0;
        double ns;

        do {
            ask(way, rtt, bytes);
            ns = now_ns() - start;
            count++;
        } while (ns < batch_ns);
        ns /= rtt ? count : (double)count * STREAM / UNIT;
        if (rtt)
            printf("rtt_%zu %.1f\n", bytes, ns);
        else
            printf("stream %.1f\n", ns);
    }
}

int main(int argc, char **argv)
{
    const struct bench_way *way;
    struct bench_meeting *meeting;
    size_t bytes;
    bool rtt;
    pid_t child;

    if (argc != 9 || !(way = bench_way(argv[1])) || (bytes = strtoul(argv[4], NULL, 10)) == 0 ||
        bytes > BENCH_BYTES_MAX) {
        fprintf(stderr, "usage: ip_bench unet|tcp|udp|kernel BACKEND rtt|bulk BYTES MILLISECONDS "
                        "INTERFACE PID PID\n");
        return 2;
    }
    rtt = strcmp(argv[3], "rtt") == 0;
    bench_buffer = calloc(1, STREAM);
    meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_need(bench_buffer && meeting != MAP_FAILED, "memory");
    child = fork();
    bench_need(child >= 0, "fork");
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter_host(argv[child ? 7 : 8], argv[6]);
    way->open(argv[2], meeting, child == 0);
    if (child == 0)
        answer(way, rtt, bytes);
    measure(way, rtt, bytes, atof(argv[5]) * 1e6 / BATCHES);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
