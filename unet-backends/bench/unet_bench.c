/* SPDX-License-Identifier: BSD-3-Clause
 *
 * unet_bench.c - what an endpoint of the shm backend costs, between two processes.
 *
 * Prints medians over batches.  The processes are pinned to two CPUs where there are two.
 */
#include <unet/unet.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 101, TAG = 1 };

struct board {
    struct unet_address address[2];
    uint32_t meeting;
};

struct bench {
    struct unet_endpoint *ep;
    uint16_t channel;
    bool first; /* the side that measures */
    struct board *board;
};

static void die(const char *what, int error)
{
    fprintf(stderr, "unet_bench: %s: %s\n", what, strerror(-error));
    _exit(1);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- two processes, one channel ------------------------------------------------ */

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Both sides pass it only together. */
static void meet(struct board *board, uint32_t count)
{
    __atomic_add_fetch(&board->meeting, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&board->meeting, __ATOMIC_ACQUIRE) < count)
        sched_yield();
}

static void connect_both(struct bench *b, const struct unet_config *config)
{
    int me = b->first ? 0 : 1;
    int error = unet_open(unet_backend("shm"), config, &b->ep);

    if (error)
        die("open", error);
    unet_address(b->ep, &b->board->address[me]);
    meet(b->board, 2);
    error = unet_connect(b->ep, &b->board->address[1 - me], TAG, &b->channel);
    if (error)
        die("connect", error);
    while (unet_channel_state(b->ep, b->channel) != UNET_OPEN)
        sched_yield();
}

/* ---- the patterns -------------------------------------------------------------- */

static void send_one(struct bench *b, const struct unet_piece *piece)
{
    struct unet_desc *desc;

    if (piece) {
        while (unet_send(b->ep, b->channel, 0, piece, 1, NULL))
            unet_progress(b->ep);
        return;
    }
    while (!(desc = unet_inline_begin(b->ep, b->channel)))
        ;
    memset(desc->data, 7, 32);
    unet_inline_end(b->ep, b->channel, 32, 0);
}

static void receive_one(struct bench *b)
{
    const struct unet_desc *desc;

    while (!(desc = unet_rx_peek(b->ep))) {
        if (!b->ep->config.polled)
            unet_wait(b->ep, -1);
        else
            unet_progress(b->ep);
    }
    for (unsigned i = 0; desc->kind == UNET_PIECES && i < desc->pieces; i++)
        unet_free_put(b->ep, desc->piece[i].offset, desc->piece[i].length);
    unet_rx_release(b->ep);
}

static void ping_pong(struct bench *b, int n, const struct unet_piece *piece)
{
    for (int i = 0; i < n; i++) {
        if (b->first)
            send_one(b, piece);
        receive_one(b);
        if (!b->first)
            send_one(b, piece);
    }
}

/* n messages one way, then one back. */
static void stream(struct bench *b, int n, const struct unet_piece *piece)
{
    for (int i = 0; i < n; i++) {
        if (b->first)
            send_one(b, piece);
        else
            receive_one(b);
    }
    if (b->first)
        receive_one(b);
    else
        send_one(b, piece);
}

/* ---- measuring --------------------------------------------------------------------- */

struct pattern {
    const char *name;
    void (*run)(struct bench *b, int n, const struct unet_piece *piece);
    int n; /* messages of a batch */
    bool sleeps;
    struct unet_piece piece; /* length 0: inline */
};

static const struct pattern patterns[] = {
    {"round trip, 32 bytes inline, polled", ping_pong, 1000, false, {0, 0}},
    {"round trip, 32 bytes inline, asleep", ping_pong, 100, true, {0, 0}},
    {"one way, 32 bytes inline, polled", stream, 1000, false, {0, 0}},
    {"round trip, 4096 bytes, polled", ping_pong, 200, false, {0, 4096}},
    {"one way, 4096 bytes, polled", stream, 200, false, {0, 4096}},
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct bench *b, const struct pattern *p)
{
    const struct unet_piece *piece = p->piece.length ? &p->piece : NULL;
    double ns[BATCHES];

    for (int i = 0; i < BATCHES; i++) {
        double start = now_ns();

        p->run(b, p->n, piece);
        ns[i] = (now_ns() - start) / p->n;
    }
    qsort(ns, BATCHES, sizeof *ns, compare);
    if (b->first)
        printf("%-38s %9.1f ns (10%%: %.1f, 90%%: %.1f)\n", p->name, ns[BATCHES / 2],
               ns[BATCHES / 10], ns[BATCHES * 9 / 10]);
}

static void run_side(struct board *board, const struct pattern *p, bool first)
{
    struct unet_config config = {.polled = !p->sleeps};
    struct bench b = {.first = first, .board = board};

    pin(first ? 0 : 1);
    connect_both(&b, &config);
    for (uint32_t i = 0; p->piece.length && i < 64; i++)
        unet_free_put(b.ep, 65536 + i * p->piece.length, p->piece.length);
    measure(&b, p);
    meet(board, 4);
    unet_close(b.ep);
}

static void run_pattern(const struct pattern *p)
{
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    pid_t child;

    if (board == MAP_FAILED)
        die("mmap", -12);
    child = fork();
    if (child == 0) {
        run_side(board, p, false);
        _exit(0);
    }
    run_side(board, p, true);
    waitpid(child, &status, 0);
    munmap(board, sizeof *board);
}

/* ---- within one process ---------------------------------------------------------- */

static void no_upcall(struct unet_endpoint *ep, void *arg)
{
    (void)ep;
    (void)arg;
}

static void measure_mask(enum unet_upcall_mode mode, const char *name)
{
    struct unet_endpoint *ep;
    int error = unet_open(unet_backend("loopback"), NULL, &ep);
    double start;

    if (error)
        die("open", error);
    error = unet_upcall(ep, mode, UNET_NONEMPTY, no_upcall, NULL);
    if (error)
        die("upcall", error);
    start = now_ns();
    for (int i = 0; i < 1000000; i++) {
        unet_upcall_mask(ep);
        unet_upcall_unmask(ep);
    }
    printf("%-38s %9.1f ns\n", name, (now_ns() - start) / 1e6);
    unet_close(ep);
}

static void measure_idle_peek(uint32_t channels)
{
    struct unet_config config = {.channels = channels};
    struct unet_endpoint *ep;
    struct unet_address self;
    int error = unet_open(unet_backend("loopback"), &config, &ep);
    uint16_t channel;
    uint32_t found = 0;
    double start;

    if (error)
        die("open", error);
    unet_address(ep, &self);
    for (uint32_t i = 0; i < channels; i++) {
        error = unet_connect(ep, &self, i, &channel);
        if (error)
            die("connect", error);
    }
    start = now_ns();
    for (int i = 0; i < 100000; i++)
        found += unet_rx_peek(ep) != NULL;
    printf("an empty peek, %3u channels %23.1f ns\n", channels + found, (now_ns() - start) / 1e5);
    unet_close(ep);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        run_pattern(&patterns[i]);
    measure_mask(UNET_UPCALL_THREAD, "mask and unmask, upcall thread");
    measure_mask(UNET_UPCALL_SIGNAL, "mask and unmask, SIGIO");
    for (uint32_t channels = 1; channels <= 64; channels *= 8)
        measure_idle_peek(channels);
    return 0;
}
