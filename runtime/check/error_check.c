/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Programs that do wrong; runtime_test.cc knows how each has to end.
 */
#include "check.h"
#include "library.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static void null_read(void)
{
    int value;

    if (my_rank() == ranks() - 1)
        splitc_far_read(&value, 0, sizeof value);
    splitc_barrier();
}

/* A field of a null structure on another rank. */
static void null_write(void)
{
    int value = 1;

    if (my_rank() == 0)
        splitc_write(splitc_make(1, (void *)16), &value, sizeof value);
    splitc_barrier();
}

static void wild_rank(void)
{
    int value;

    if (my_rank() == 0)
        splitc_read(&value, splitc_make(ranks(), &value), sizeof value);
    splitc_barrier();
}

static void wild_store(void)
{
    int value = 0;

    if (my_rank() == 0)
        splitc_store(splitc_make(60000, &value), &value, sizeof value);
    splitc_barrier();
}

static void heap_exhausted(void)
{
    splitc_all_spread_malloc(ranks(), 1L << 40);
}

static void heap_overflow(void)
{
    splitc_all_spread_malloc(1L << 62, 1L << 62);
}

static void negative_size(void)
{
    splitc_all_spread_malloc(-1, 8);
}

static void negative_bulk(void)
{
    char byte = 0;

    splitc_bulk_write(splitc_make(0, &byte), &byte, -2);
}

static void double_free(void)
{
    splitc_ptr base = splitc_all_spread_malloc(ranks(), 8);

    splitc_all_spread_free(base);
    splitc_all_spread_free(base);
}

static void misaligned_atomic(void)
{
    splitc_ptr area = area_open(16);

    splitc_fetch_add(area_at(area, 0, 2), 1);
}

static void unlock_of_free_lock(void)
{
    splitc_ptr area = area_open(16);

    if (my_rank() == 0)
        splitc_unlock(area_at(area, 0, 0));
    splitc_barrier();
}

static void different_collectives(void)
{
    if (my_rank() == 0)
        splitc_all_bcast_i(1);
    else
        splitc_all_reduce_to_one_add(1);
    splitc_all_reduce_to_all_add(1);
}

/* Freeing is collective, but no barrier. */
static void free_and_barrier(void)
{
    splitc_ptr area = area_open(16);

    if (my_rank() == 1)
        splitc_barrier();
    area_close(area);
    splitc_barrier();
}

/* The last rank ends well, without the barrier that the others wait in. */
static void missing_at_a_barrier(void)
{
    if (my_rank() != ranks() - 1)
        splitc_barrier();
}

/* A broadcast's root does not wait for the others: it gets away with it once. */
static void missing_at_a_broadcast(void)
{
    if (my_rank() != 0)
        return;
    for (int i = 0; i < 20; i++)
        splitc_all_bcast_i(i);
}

/* One rank dies; each of the others waits for it in another way. */
static void wait_for_the_dead(void)
{
    splitc_ptr area = area_open(64);
    long value = 0;

    if (my_rank() == 0)
        raise(SIGKILL);
    if (my_rank() % 3 == 0)
        splitc_read(&value, area_at(area, 0, 0), sizeof value);
    else if (my_rank() % 3 == 1)
        splitc_store_sync(8);
    splitc_barrier();
}

/* What the last rank waits for never comes, and the others wait for that rank. */
static void deadlock(void)
{
    splitc_ptr area = area_open(16);
    int value = 1;

    if (check_argc == 0 && my_rank() == ranks() - 1)
        splitc_store_sync(8);
    if (check_argc > 0) {
        splitc_write(area_at(area, 0, 0), &value, sizeof value);
        splitc_lock(area_at(area, 0, 0));
    }
    splitc_barrier();
}

/* The last rank never comes, but is no hang that anybody could recognise. */
static void hang(void)
{
    volatile bool ever = true;

    if (my_rank() == 0)
        printf("up\n");
    if (my_rank() == ranks() - 1)
        while (ever)
            ;
    splitc_barrier();
}

/* Longer than it takes to recognise a deadlock. */
static void late_rank(void)
{
    if (my_rank() == ranks() - 1)
        usleep(4000000);
    splitc_barrier();
}

/* The others try to lock meanwhile. */
static void late_unlock(void)
{
    splitc_ptr lock = area_at(area_open(16), 0, 0);

    if (my_rank() == 0)
        splitc_lock(lock);
    splitc_barrier();
    if (my_rank() == 0)
        usleep(4000000);
    else
        splitc_lock(lock);
    splitc_unlock(lock);
    splitc_barrier();
}

/* The last rank is there and does not answer, as behind a cut cable. */
static void stopped_rank(void)
{
    if (my_rank() == ranks() - 1)
        raise(SIGSTOP);
    splitc_barrier();
}

static void one_fails(void)
{
    if (my_rank() == ranks() - 1)
        exit(7);
    splitc_barrier();
}

/* Run at the last rank, for the first one; every rank knows the function. */
static void run_at_last(void (*run)(void *object, const void *arguments, void *result))
{
    static struct splitc_atomic function = {.name = "run_at_last"};
    splitc_ptr last = area_at(area_open(16), ranks() - 1, 0);

    function.run = run;
    splitc_register_atomic(&function);
    splitc_barrier();
    if (my_rank() == 0)
        splitc_run_atomic(&function, last, NULL, NULL);
    splitc_barrier();
}

static void end_with_9(void *object, const void *arguments, void *result)
{
    (void)object, (void)arguments, (void)result;
    exit(9);
}

static void function_ends(void)
{
    run_at_last(end_with_9);
}

static void take_long(void *object, const void *arguments, void *result)
{
    (void)object, (void)arguments, (void)result;
    usleep(4000000);
}

static void function_takes_long(void)
{
    run_at_last(take_long);
}

static void launcher_ends(void)
{
    int signal = 0;

    EXPECT_EQ(0, prctl(PR_GET_PDEATHSIG, &signal));
    EXPECT_EQ(SIGKILL, signal);
}

static void aborts(void)
{
    if (my_rank() == 0)
        abort();
    splitc_barrier();
}

const struct check error_checks[] = {
    {"null_read", null_read},
    {"null_write", null_write},
    {"wild_rank", wild_rank},
    {"wild_store", wild_store},
    {"heap_exhausted", heap_exhausted},
    {"heap_overflow", heap_overflow},
    {"negative_size", negative_size},
    {"negative_bulk", negative_bulk},
    {"double_free", double_free},
    {"misaligned_atomic", misaligned_atomic},
    {"unlock_of_free_lock", unlock_of_free_lock},
    {"different_collectives", different_collectives},
    {"free_and_barrier", free_and_barrier},
    {"missing_at_a_barrier", missing_at_a_barrier},
    {"missing_at_a_broadcast", missing_at_a_broadcast},
    {"wait_for_the_dead", wait_for_the_dead},
    {"deadlock", deadlock},
    {"hang", hang},
    {"late_rank", late_rank},
    {"late_unlock", late_unlock},
    {"stopped_rank", stopped_rank},
    {"one_fails", one_fails},
    {"function_ends", function_ends},
    {"function_takes_long", function_takes_long},
    {"launcher_ends", launcher_ends},
    {"aborts", aborts},
    {0},
};
