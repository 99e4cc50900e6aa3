/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ip_bench WHO[,LIMIT] BACKEND rtt|bulk BYTES MILLISECONDS INTERFACE PID PID: two processes, in the
 * network namespaces of those pids (0: this one).  WHO is `unet`, messages of U-Net of at most
 * 1,500 bytes; `tcp` or `udp` of libunet-ip; or `kernel_tcp` or `kernel_udp`.  Prints "METRIC
 * NANOSECONDS" for each of ten batches: of a round trip of BYTES, or of one write or message of
 * BYTES of a stream.  LIMIT is measured in turns with it, a batch each, so that what else the
 * machine does slows down both: it prints "raw.METRIC NANOSECONDS".
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
    WAYS_MOST = 2,
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

/* ---- turns ------------------------------------------------------------------ */

/* What both processes do next: `count` times the work of that way. */
struct turn {
    uint32_t number; /* written last */
    unsigned way, count;
};

static void turn_begin(struct turn *turn, unsigned way, unsigned count)
{
    turn->way = way;
    turn->count = count;
    __atomic_store_n(&turn->number, turn->number + 1, __ATOMIC_RELEASE);
}

static void turns_answer(const struct turn *turn, const struct work *work)
{
    for (uint32_t done = 0;; done++) {
        while (__atomic_load_n(&turn->number, __ATOMIC_ACQUIRE) == done)
            sched_yield();
        for (unsigned i = turn->count; i > 0; i--)
            answer(&work[turn->way]);
    }
}

/* Returns the time of one. */
static double turn_ask(struct turn *turn, const struct work *work, unsigned way, unsigned count)
{
    double start;

    turn_begin(turn, way, count);
    start = now_ns();
    for (unsigned i = 0; i < count; i++)
        ask(&work[way]);
    return (now_ns() - start) / count;
}

/* How often it is done in a batch is what the last one would have taken that time for. */
static void measure(struct turn *turn, const struct work *work, unsigned ways, double batch_ns)
{
    double ns[WAYS_MOST];

    for (unsigned way = 0; way < ways; way++)
        ns[way] = turn_ask(turn, work, way, work->rtt ? 50 : 2);
    for (unsigned i = 0; i < BATCHES * ways; i++) {
        const unsigned way = i % ways;

        ns[way] = turn_ask(turn, work, way, 1 + (unsigned)(batch_ns / ns[way]));
        printf("%s%s_%zu %.1f\n", way == 0 ? "" : "raw.", work->rtt ? "rtt" : "bulk", work->bytes,
               ns[way] / work[way].times);
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
            "usage: ip_bench WHO[,LIMIT] BACKEND rtt|bulk BYTES MILLISECONDS INTERFACE PID PID\n"
            "WHO and LIMIT are two of unet, tcp, udp, kernel_tcp, kernel_udp, one of tcp and udp\n"
            "BYTES is at most %d, of a datagram %d\n",
            BENCH_BYTES_MAX, BENCH_DATAGRAM_MAX);
    return 2;
}

/* The ways of a list, or 0: it names none, or too many. */
static unsigned ways_of(char *list, const struct bench_way *way[WAYS_MOST])
{
    unsigned count = 0;

    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        if (count == WAYS_MOST || !(way[count] = way_of(name)))
            return 0;
        count++;
    }
    return count;
}

/* What the two processes share. */
struct shared {
    struct turn turn;
    struct bench_meeting meeting[WAYS_MOST];
};

int main(int argc, char **argv)
{
    const struct bench_way *way[WAYS_MOST];
    const unsigned ways = argc == 9 ? ways_of(argv[1], way) : 0;
    const size_t bytes = ways ? strtoul(argv[4], NULL, 10) : 0;
    struct work work[WAYS_MOST];
    struct shared *shared;
    pid_t child;

    if (bytes == 0 || (strcmp(argv[3], "rtt") != 0 && strcmp(argv[3], "bulk") != 0))
        return usage();
    for (unsigned i = 0; i < ways; i++) {
        if (bytes > (way[i]->datagrams ? BENCH_DATAGRAM_MAX : BENCH_BYTES_MAX))
            return usage();
        work[i] = work_of(way[i], argv[3][0] == 'r', bytes);
    }
    bench_buffer = calloc(1, BENCH_BYTES_MAX);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_need(bench_buffer && shared != MAP_FAILED, "memory");
    child = fork();
    bench_need(child >= 0, "fork");
    if (child == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    enter_host(argv[child ? 7 : 8], argv[6]);
    for (unsigned i = 0; i < ways; i++)
        way[i]->open(argv[2], &shared->meeting[i], child == 0);
    if (child == 0)
        turns_answer(&shared->turn, work);
    measure(&shared->turn, work, ways, atof(argv[5]) * 1e6 / BATCHES);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
