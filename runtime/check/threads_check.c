/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Checks of threads of the program that use global pointers.
 */
#include "check.h"
#include "library.h"

#include <pthread.h>
#include <unistd.h>

enum {
    THREADS = 3,
    ADDITIONS = 500,
    ROUNDS = 200,
    BLOCK = 40000, /* bytes of a thread's bulk transfers: several packets */
};

static splitc_ptr area;

static void start(pthread_t *thread, void *(*run)(void *), long i)
{
    EXPECT_EQ(0, pthread_create(thread, NULL, run, (void *)i));
}

static void join(pthread_t thread)
{
    EXPECT_EQ(0, pthread_join(thread, NULL));
}

static void *add_to_all(void *argument)
{
    for (int i = 0; i < ADDITIONS; i++) {
        int seen;

        splitc_fetch_add(area_at(area, neighbour(i), 0), 1);
        splitc_read(&seen, area_at(area, neighbour(i), 0), sizeof seen);
        EXPECT(seen > 0);
    }
    return argument;
}

static void threads(void)
{
    pthread_t thread[THREADS];

    area = area_open(8);
    for (long i = 0; i < THREADS; i++)
        start(&thread[i], add_to_all, i);
    for (int i = 0; i < THREADS; i++)
        join(thread[i]);
    splitc_barrier();
    EXPECT_EQ(THREADS * ADDITIONS, *(int *)area_here(area));
    area_close(area);
}

/* Each thread has a block of its own at the next rank, which only it writes, by every way there is,
 * and reads back. */
static void *use_block(void *argument)
{
    const long i = (long)argument;
    const splitc_ptr block = area_at(area, neighbour(1), (size_t)i * BLOCK);
    char *bytes = malloc(BLOCK), *back = malloc(BLOCK);

    for (unsigned round = 0; round < ROUNDS; round++) {
        const size_t n = round % 8 == 0 ? BLOCK : 1 + round * 13 % 300;
        const unsigned seed = round * THREADS + (unsigned)i;

        fill(bytes, n, seed);
        memset(back, 0, n);
        if (round % 2 == 0)
            splitc_bulk_write(block, bytes, (int)n);
        else
            splitc_bulk_put(block, bytes, (int)n);
        splitc_sync();
        if (round % 3 == 0)
            splitc_bulk_read(back, block, (int)n);
        else
            splitc_bulk_get(back, block, (int)n);
        splitc_sync();
        EXPECT_FILLED(back, n, 0, seed);
    }
    free(bytes);
    free(back);
    return argument;
}

/* Meanwhile the thread that runs the program meets the other ranks. */
static void threads_transfer(void)
{
    pthread_t thread[THREADS];

    area = area_open(THREADS * BLOCK);
    for (long i = 0; i < THREADS; i++)
        start(&thread[i], use_block, i);
    for (int round = 0; round < ROUNDS; round++)
        EXPECT_EQ(ranks(), splitc_all_reduce_to_all_add(1));
    for (int i = 0; i < THREADS; i++)
        join(thread[i]);
    area_close(area);
}

/* By then the thread that runs the program has long been waiting for the store of its neighbour's
 * thread, which is to get in nevertheless. */
static void *store_at_last(void *argument)
{
    long value = 0;

    for (int i = 0; i < ROUNDS; i++)
        splitc_read(&value, area_at(area, neighbour(1), 0), sizeof value);
    value = 1;
    splitc_store(area_at(area, neighbour(1), 8), &value, sizeof value);
    return argument;
}

static void threads_end_a_wait(void)
{
    pthread_t thread;

    area = area_open(16);
    start(&thread, store_at_last, 0);
    splitc_store_sync(8);
    EXPECT_EQ(1, ((long *)area_here(area))[1]);
    join(thread);
    splitc_barrier();
    area_close(area);
}

/* For longer than it takes to recognise a deadlock, every rank waits for what a thread will send.
 */
static void *store_late(void *argument)
{
    const long value = 1;

    usleep(4000000);
    splitc_store(area_at(area, neighbour(1), 8), &value, sizeof value);
    return argument;
}

static void late_thread(void)
{
    pthread_t thread;

    area = area_open(16);
    start(&thread, store_late, 0);
    splitc_store_sync(8);
    join(thread);
    splitc_barrier();
    area_close(area);
}

static void *meet(void *argument)
{
    splitc_barrier();
    return argument;
}

static void thread_meets(void)
{
    pthread_t thread;

    start(&thread, meet, 0);
    join(thread);
}

const struct check threads_checks[] = {
    {"threads", threads},
    {"threads_transfer", threads_transfer},
    {"threads_end_a_wait", threads_end_a_wait},
    {"late_thread", late_thread},
    {"thread_meets", thread_meets},
    {0},
};
