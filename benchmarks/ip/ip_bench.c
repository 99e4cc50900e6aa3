/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip_bench WHO BACKEND rtt|bulk BYTES MILLISECONDS INTERFACE PID PID: two processes, in the network
 * namespaces of those pids (0: this one).  WHO is `unet`, messages of U-Net of at most 1,500 bytes;
 * `tcp` or `udp` of libunet-ip; or `kernel_tcp` or `kernel_udp`.  Prints "METRIC NANOSECONDS" for
 * each of ten batches: of a round trip of BYTES, or of one write or message of BYTES of a stream.
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

enum {
    BATCHES = 10,
    WINDOW_BYTES = 64 << 10, /* datagrams on their way, whose receiver has room for as many */
    WINDOW_MOST = 64,
    CREDIT = 1, /* bytes of a datagram that says that half of the window has arrived */
};

uint8_t *bench_buffer;

void bench_need(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "ip_bench: %s failed\n", what);
    exit(1);
}

void bench_await(const uint32_t *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        sched_yield();
}

void bench_raise(uint32_t *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void bench_rest(struct bench_patience *p, const struct unet_rest_policy *policy)
{
    if (++p->looks % 1024 == 0) {
        const double now = now_ns();

        if (p->since_ns == 0)
            p->since_ns = now;
        bench_need(now - p->since_ns < BENCH_LIMIT_MS * 1e6, "receiving what was lost");
    }
    unet_rest_awake(policy, p->looks);
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

/* ---- what is measured ----------------------------------------------------- */

struct work {
    const struct bench_way *way;
    bool rtt;
    size_t bytes;
    unsigned times;  /* bulk: writes between two looks at the clock */
    unsigned window; /* of datagrams: on their way at most; an even number that divides `times` */
};

static struct work work_of(const struct bench_way *way, bool rtt, size_t bytes)
{
    struct work w = {.way = way, .rtt = rtt, .bytes = bytes, .times = 1};

    if (rtt)
        return w;
    w.window = bytes * WINDOW_MOST <= WINDOW_BYTES ? WINDOW_MOST : (unsigned)(WINDOW_BYTES / bytes);
    w.window -= w.window % 2;
    w.times = (unsigned)(BENCH_BYTES_MAX / bytes);
    if (way->datagrams)
        w.times -= w.times % w.window;
    return w;
}

static void answer(const struct work *w)
{
    const struct bench_way *way = w->way;

    if (w->rtt) {
        way->receive(w->bytes);
        way->send(w->bytes, 1);
    } else if (!way->datagrams) {
        way->receive(w->bytes * w->times);
        way->send(1, 1);
    } else {
        for (unsigned i = 1; i <= w->times; i++) {
            way->receive(w->bytes);
            if (i % (w->window / 2) == 0)
                way->send(CREDIT, 1);
        }
    }
}

/* Each credit is for half of the window; the last one says that all has arrived. */
static void ask_datagrams(const struct work *w)
{
    const unsigned half = w->window / 2;

    w->way->send(w->bytes, half);
    for (unsigned sent = half; sent < w->times; sent += half) {
        w->way->send(w->bytes, half);
        w->way->receive(CREDIT);
    }
    w->way->receive(CREDIT);
}

static void ask(const struct work *w)
{
    if (!w->rtt && w->way->datagrams) {
        ask_datagrams(w);
        return;
    }
    w->way->send(w->bytes, w->times);
    w->way->receive(w->rtt ? w->bytes : 1);
}

static void measure(const struct work *w, double batch_ns)
{
    for (int i = 0; i < (w->rtt ? 50 : 2); i++)
        ask(w);
    for (int batch = 0; batch < BATCHES; batch++) {
        const double start = now_ns();
        unsigned count = 0;
        double ns;

        do {
            ask(w);
            ns = now_ns() - start;
            count++;
        } while (ns < batch_ns);
        printf("%s_%zu %.1f\n", w->rtt ? "rtt" : "bulk", w->bytes, ns / count / w->times);
    }
}

/* ---- the two processes ---------------------------------------------------- */

static const struct bench_way *way_of(const char *name)
{
    static const struct bench_way *const way[] = {&bench_messages, &bench_tcp, &bench_udp,
                                                  &bench_kernel_tcp, &bench_kernel_udp};

    for (size_t i = 0; i < sizeof way / sizeof *way; i++)
        if (strcmp(way[i]->name, name) == 0)
            return way[i];
    return NULL;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: ip_bench unet|tcp|udp|kernel_tcp|kernel_udp BACKEND rtt|bulk BYTES "
            "MILLISECONDS INTERFACE PID PID\n"
            "BYTES is at most %d, of a datagram %d\n",
            BENCH_BYTES_MAX, BENCH_DATAGRAM_MAX);
    return 2;
}

int main(int argc, char **argv)
{
    const struct bench_way *way = argc == 9 ? way_of(argv[1]) : NULL;
    const size_t bytes = way ? strtoul(argv[4], NULL, 10) : 0;
    struct bench_meeting *meeting;
    struct work work;
    pid_t child;

    if (bytes == 0 || bytes > (way->datagrams ? BENCH_DATAGRAM_MAX : BENCH_BYTES_MAX) ||
        (strcmp(argv[3], "rtt") != 0 && strcmp(argv[3], "bulk") != 0))
        return usage();
    work = work_of(way, argv[3][0] == 'r', bytes);
    bench_buffer = calloc(1, BENCH_BYTES_MAX);
    meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_need(bench_buffer && meeting != MAP_FAILED, "memory");
    child = fork();
    bench_need(child >= 0, "fork");
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter_host(argv[child ? 7 : 8], argv[6]);
    way->open(argv[2], meeting, child == 0);
    while (child == 0)
        answer(&work);
    measure(&work, atof(argv[5]) * 1e6 / BATCHES);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
