/* SPDX-License-Identifier: BSD-3-Clause
 *
 * core_distance: prints how many nanoseconds a cache line takes to and fro between the first two
 * processors that we may use, or nothing where there is but one.
 *
 * The host of a virtual machine moves its processors: a line takes some 0.1 us at one time and 0.5
 * at another, which doubles the time of many messages.  The least of many short batches counts, so
 * that other processes do not.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { BATCHES = 200, TRIPS = 20, LOOKS = 100000 };

static _Alignas(128) uint32_t line;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The calling thread runs on processor `cpu` alone. */
static bool pin_to(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0;
}

/* The first two processors that we may use; false: there is but one. */
static bool find_two(int cpu[2])
{
    cpu_set_t all;
    int count = 0;

    if (sched_getaffinity(0, sizeof all, &all) < 0)
        return false;
    for (int i = 0; i < CPU_SETSIZE && count < 2; i++)
        if (CPU_ISSET(i, &all))
            cpu[count++] = i;
    return count == 2;
}

/* Now and then a turn is given away, as the other thread may not be running. */
static void await(uint32_t value)
{
    for (unsigned looks = 1; __atomic_load_n(&line, __ATOMIC_ACQUIRE) != value; looks++)
        if (looks % LOOKS == 0)
            sched_yield();
}

static void *answer(void *cpu)
{
    pin_to(*(const int *)cpu);
    for (uint32_t i = 1; i <= BATCHES * TRIPS; i++) {
        await(2 * i - 1);
        __atomic_store_n(&line, 2 * i, __ATOMIC_RELEASE);
    }
    return NULL;
}

static double ask_batch(uint32_t first)
{
    const double start = now_ns();

    for (uint32_t i = first; i < first + TRIPS; i++) {
        __atomic_store_n(&line, 2 * i - 1, __ATOMIC_RELEASE);
        await(2 * i);
    }
    return (now_ns() - start) / TRIPS;
}

int main(void)
{
    double least = 0;
    pthread_t other;
    int cpu[2];

    if (!find_two(cpu))
        return 0;
    if (!pin_to(cpu[0]) || pthread_create(&other, NULL, answer, &cpu[1]) != 0)
        return 1;
    for (uint32_t batch = 0; batch < BATCHES; batch++) {
        const double ns = ask_batch(1 + batch * TRIPS);

        least = batch == 0 || ns < least ? ns : least;
    }
    pthread_join(other, NULL);
    printf("%.0f\n", least);
    return 0;
}
