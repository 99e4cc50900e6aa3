/* SPDX-License-Identifier: BSD-3-Clause
 *
 * raw.c - what the machine can do with nobody's software in between.
 *
 *   raw pair MILLISECONDS       two processes that share a page: cache lines to and fro, a ring
 *   raw barrier MILLISECONDS N  N processes that count themselves in and yield until all have
 *   raw malloc MILLISECONDS     libc's malloc and free
 *   raw start N                 N processes that only start and end
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "measure.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 4, SLOTS = 128, BURST = 4096 };

/* One cache line; `full` is written last. */
struct line {
    uint64_t word[WORDS];
    uint64_t full;
} __attribute__((aligned(128))); /* and none that the processor would fetch along */

struct slot {
    uint64_t word[WORDS];
    uint64_t full;
} __attribute__((aligned(64)));

static struct shared {
    struct line line[2]; /* from either side */
    double told;
    struct line taken;    /* how many slots the reader has emptied */
    struct line answered; /* how many bursts have come */
    struct line arrived;  /* how often some process has, at all barriers so far */
    struct line open;     /* the last barrier that all have come to */
    struct slot slot[SLOTS];
} * shared;

static int side; /* 0 measures */
static uint64_t turn, sent, received, answers, sum;

static void die(const char *what)
{
    fprintf(stderr, "raw: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void fill(uint64_t *flag, uint64_t value)
{
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* A sleepless wait, but not a deaf one: the machine may have one core. */
static void wait_until(const uint64_t *flag, uint64_t value)
{
    for (uint32_t spins = 0; __atomic_load_n(flag, __ATOMIC_ACQUIRE) < value;)
        if (++spins % 65536 == 0)
            sched_yield();
}

/* ---- between two processes ----------------------------------------------------------- */

/* Our line out, the other's in; side 0 begins. */
static void exchange(uint64_t words)
{
    turn++;
    if (side == 1)
        wait_until(&shared->line[0].full, turn);
    for (uint64_t i = 0; i < words; i++)
        sum += shared->line[!side].word[i];
    for (uint64_t i = 0; i < words; i++)
        shared->line[side].word[i] = turn;
    fill(&shared->line[side].full, turn);
    if (side == 0)
        wait_until(&shared->line[1].full, turn);
}

static double share(double mine)
{
    if (side == 0)
        shared->told = mine;
    exchange(0);
    mine = shared->told;
    exchange(0);
    return mine;
}

static double line_round_trips(long n)
{
    double start;

    exchange(0);
    start = now_ns();
    for (long i = 0; i < n; i++)
        exchange(0);
    return now_ns() - start;
}

static double am_round_trips(long n)
{
    double start;

    exchange(0);
    start = now_ns();
    for (long i = 0; i < n; i++)
        exchange(WORDS);
    return now_ns() - start;
}

static void send_slot(void)
{
    struct slot *slot = &shared->slot[sent % SLOTS];

    if (sent >= SLOTS / 2 && sent % (SLOTS / 4) == 0)
        wait_until(&shared->taken.full, sent - SLOTS / 2);
    for (int i = 0; i < WORDS; i++)
        slot->word[i] = sent;
    fill(&slot->full, ++sent);
}

static void receive_slot(void)
{
    const struct slot *slot = &shared->slot[received % SLOTS];

    wait_until(&slot->full, ++received);
    for (int i = 0; i < WORDS; i++)
        sum += slot->word[i];
    if (received % (SLOTS / 4) == 0)
        fill(&shared->taken.full, received);
}

/* A burst, and one line back that says that it has come. */
static double bursts(long n)
{
    double start;

    exchange(0);
    start = now_ns();
    for (long burst = 0; burst < n; burst++) {
        for (int i = 0; i < BURST; i++)
            side == 0 ? send_slot() : receive_slot();
        answers++;
        if (side == 1)
            fill(&shared->answered.full, answers);
        else
            wait_until(&shared->answered.full, answers);
    }
    return now_ns() - start;
}

/* To the core of that number among those that we may use. */
static void pin(int number)
{
    cpu_set_t allowed, one;

    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0)
        die("cores");
    number %= CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || number-- > 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

static void map_shared(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        die("shared memory");
}

/* Become side 1 to n - 1 in as many children. */
static void fork_sides(int n)
{
    for (int i = 1; i < n && side == 0; i++) {
        pid_t child = fork();

        if (child < 0)
            die("fork");
        if (child == 0) {
            side = i;
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left to wait for */
        }
    }
}

static void wait_for_sides(void)
{
    while (side == 0 && wait(NULL) > 0)
        ;
}

static void measure_pair(double budget)
{
    struct team team;

    map_shared();
    fork_sides(2);
    pin(side);
    team = (struct team){.measures = side == 0, .share = share, .budget_ns = budget};
    measure(&team, "line_round_trip", 1, line_round_trips, NULL);
    measure(&team, "am_round_trip", 1, am_round_trips, NULL);
    measure(&team, "am_one_way", BURST, bursts, NULL);
    wait_for_sides();
}

/* ---- among many processes --------------------------------------------------------------- */

static uint64_t processes, meetings;

static void meet(void)
{
    meetings++;
    if (__atomic_add_fetch(&shared->arrived.full, 1, __ATOMIC_ACQ_REL) == meetings * processes)
        fill(&shared->open.full, meetings);
    while (__atomic_load_n(&shared->open.full, __ATOMIC_ACQUIRE) < meetings)
        sched_yield();
}

static double share_with_all(double mine)
{
    if (side == 0)
        shared->told = mine;
    meet();
    mine = shared->told;
    meet();
    return mine;
}

static double barriers(long n)
{
    double start;

    meet();
    start = now_ns();
    for (long i = 0; i < n; i++)
        meet();
    return now_ns() - start;
}

static void measure_barrier(double budget, int n)
{
    struct team team;

    processes = (uint64_t)n;
    map_shared();
    fork_sides(n);
    team = (struct team){.measures = side == 0, .share = share_with_all, .budget_ns = budget};
    measure(&team, "barrier", 1, barriers, NULL);
    wait_for_sides();
}

/* ---- within one process ----------------------------------------------------------------- */

static double share_alone(double mine)
{
    return mine;
}

static double mallocs(long n)
{
    double start = now_ns();

    for (long i = 0; i < n; i++) {
        char *volatile block = malloc(64);

        free(block);
    }
    return now_ns() - start;
}

static void measure_malloc(double budget)
{
    struct team team = {.measures = 1, .share = share_alone, .budget_ns = budget};

    measure(&team, "malloc", 1, mallocs, NULL);
}

/* ---- processes ---------------------------------------------------------------------------- */

extern char **environ;

static void start(long count)
{
    char *argv[] = {"raw", NULL};
    pid_t pid;

    for (long i = 0; i < count; i++)
        if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) != 0)
            die("a process");
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return 0;
    if (argc == 3 && strcmp(argv[1], "pair") == 0)
        measure_pair(budget_of(argv[2]));
    else if (argc == 3 && strcmp(argv[1], "malloc") == 0)
        measure_malloc(budget_of(argv[2]));
    else if (argc == 4 && strcmp(argv[1], "barrier") == 0)
        measure_barrier(budget_of(argv[2]), atoi(argv[3]));
    else if (argc == 3 && strcmp(argv[1], "start") == 0)
        start(atol(argv[2]));
    else
        return fprintf(stderr, "usage: raw pair|malloc MILLISECONDS, raw barrier MILLISECONDS N, "
                               "raw start N\n"),
               2;
    return 0;
}
