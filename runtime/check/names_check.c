/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The names of split-c.h, bound to the library.  Only splitcc knows the
 * qualifiers; without them both kinds of pointer are as wide as C's, and C can
 * follow the declarations.
 */
#include <limits.h>
#include <unistd.h> /* has a sync() of its own */

#define __SPLITC__ 1 /* else the header says that C cannot */
#define global
#define spread
#include <split-c/control.h>
#include <split-c/gather.h>

#include "check.h"

/* The C pointer that stands for a global one. */
static void *on(int rank, void *address)
{
    return (void *)splitc_make(rank, address);
}

static void accesses(int *block, int *here)
{
    int there = neighbour(1), value = 10 * my_rank();

    barrier();
    bulk_write(on(there, block), &value, sizeof value);
    bulk_read(here, on(there, block), sizeof *here);
    EXPECT_EQ(value, *here);
    bulk_put(on(there, block + 1), &value, sizeof value);
    bulk_get(here + 1, on(my_rank(), block + 2), sizeof *here);
    sync();
    EXPECT(is_sync());
    bulk_store(on(there, block + 2), &value, sizeof value);
    while (!is_store_sync(sizeof value))
        splitc_poll();
    store_sync(sizeof value);
    EXPECT_EQ(10 * neighbour(-1), block[2]);
    reset_store_sync();
    all_store_sync();
    EXPECT_EQ(10 * neighbour(-1), block[1]);
}

static void collectives(void)
{
    int n = PROCS, sum = n * (n - 1) / 2, *all = malloc(sizeof *all * (size_t)n);
    long *wide = malloc(sizeof *wide * (size_t)n);

    EXPECT_EQ(sum, all_reduce_to_all_add(MYPROC));
    EXPECT_EQ(n - 1, all_reduce_to_all_max(MYPROC));
    EXPECT_EQ(0, all_reduce_to_all_min(MYPROC));
    EXPECT_DOUBLE(sum, all_reduce_to_all_dadd(MYPROC));
    EXPECT_DOUBLE(n - 1, all_reduce_to_all_dmax(MYPROC));
    EXPECT_DOUBLE(0, all_reduce_to_all_dmin(MYPROC));
    EXPECT_EQ(MYPROC ? 0 : sum, all_reduce_to_one_add(MYPROC));
    EXPECT_EQ(MYPROC ? 0 : n - 1, all_reduce_to_one_max(MYPROC));
    EXPECT_EQ(0, all_reduce_to_one_min(MYPROC));
    EXPECT_DOUBLE(MYPROC ? 0 : sum, all_reduce_to_one_dadd(MYPROC));
    EXPECT_DOUBLE(MYPROC ? 0 : n - 1, all_reduce_to_one_dmax(MYPROC));
    EXPECT_DOUBLE(0, all_reduce_to_one_dmin(MYPROC));
    EXPECT_EQ(MYPROC + 1, all_scan_add(1));
    EXPECT_EQ(MYPROC, all_scan_max(MYPROC));
    EXPECT_EQ(0, all_scan_min(MYPROC));
    EXPECT_DOUBLE(MYPROC + 1, all_scan_dadd(1));
    EXPECT_DOUBLE(MYPROC, all_scan_dmax(MYPROC));
    EXPECT_DOUBLE(0, all_scan_dmin(MYPROC));
    EXPECT_EQ(7, all_bcast(MYPROC + 7));
    EXPECT_EQ(8, all_bcast_i(MYPROC + 8));
    EXPECT_DOUBLE(9, all_bcast_d(MYPROC + 9));
    EXPECT_EQ(10L << 40, all_bcast_l((MYPROC + 10L) << 40));
    EXPECT_EQ((long)sum << 40, all_reduce_to_all_ladd((long)MYPROC << 40));
    EXPECT_EQ(MYPROC ? 0 : UINT_MAX - 1, all_reduce_to_one_umax(UINT_MAX - 1 - (unsigned)MYPROC));
    EXPECT(all_scan_ulmax(ULONG_MAX - (unsigned long)MYPROC) == ULONG_MAX);
    EXPECT_DOUBLE(n / 2.0, all_reduce_to_all_fadd(0.5f));
    all_gather_i(all, MYPROC);
    all_gather_l(wide, (long)MYPROC << 40);
    EXPECT_EQ(n - 1, all[n - 1]);
    EXPECT_EQ((long)(n - 1) << 40, wide[n - 1]);
    free(wide);
    free(all);
}

static void atomics(int *block)
{
    int *counter = on(neighbour(1), block);
    long *wide = on(neighbour(1), block + 2);

    EXPECT_EQ(0, fetch_add(counter, 2));
    EXPECT_EQ(2, exchange(counter, 0));
    EXPECT_EQ(0, cmp_and_swap(counter, 0, 0));
    EXPECT_EQ(0, test_and_set(counter));
    splitc_unlock(counter);
    splitc_lock(counter);
    EXPECT(!splitc_trylock(counter));
    EXPECT_EQ(0, fetch_add_l(wide, 1));
    EXPECT_EQ(1, exchange_l(wide, 2));
    EXPECT_EQ(2, cmp_and_swap_l(wide, 2, 3));
}

/* The loops visit every element of ours, in order, and no other. */
static void loops(void)
{
    int i, j, columns = 0, next = MYPROC;

    for_my_1d(i, 10)
    {
        EXPECT_EQ(next, i);
        next += PROCS;
    }
    EXPECT(next >= 10);
    next = MYPROC;
    for_my_2d(i, j, 3, 7)
    {
        EXPECT_EQ(next / 7, i);
        EXPECT_EQ(next % 7, j);
        next += PROCS;
    }
    EXPECT(next >= 21 && next < 21 + PROCS);
    for_my_2d(i, j, 3, columns) EXPECT(!"a loop over no columns");
}

static void one_of_us(void)
{
    int count = 0;

    on_one count++;
    on_proc(PROCS - 1)
    {
        count++;
    }
    EXPECT_EQ(2, all_reduce_to_all_add(count));
}

static void names(void)
{
    int *block = splitc_address((splitc_ptr)all_spread_malloc(PROCS, 4 * sizeof(int)));
    int here[2];

    memset(block, 0, 4 * sizeof *block);
    accesses(block, here);
    barrier();
    memset(block, 0, 4 * sizeof *block);
    barrier();
    atomics(block);
    collectives();
    loops();
    one_of_us();
    EXPECT(get_seconds() > 0);
    EXPECT_EQ(1, splitc_rank((splitc_ptr)toglobal(1, block)));
    EXPECT_EQ(2, splitc_rank((splitc_ptr)tospread(2, block)));
    all_spread_free(block);
}

const struct check names_checks[] = {{"names", names}, {0}};
