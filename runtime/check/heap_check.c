/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- static spread arrays, as the compiler emits them --------------------------- */

static splitc_ptr static_grid, static_row;

static void grid_shape(splitc_size *count, splitc_size *size)
{
    *count = 3 * (splitc_size)splitc_job.procs;
    *size = 5 * sizeof(double);
}

static void row_shape(splitc_size *count, splitc_size *size)
{
    *count = 7;
    *size = sizeof(int);
}

static struct splitc_static registered[] = {
    {&static_row, row_shape, "row", "b.sc", 20, NULL},
    {&static_grid, grid_shape, "grid", "b.sc", 10, NULL},
};

/* In an order of its own, which must not matter. */
static __attribute__((constructor)) void register_statics(void)
{
    splitc_register_static(&registered[0]);
    splitc_register_static(&registered[1]);
}

/* True if every rank has the same value. */
static bool same_everywhere(splitc_ptr value)
{
    int low = (int)(value & 0x3fffffff), high = (int)(value >> 30 & 0x3fffffff);

    return splitc_all_bcast_i(low) == low && splitc_all_bcast_i(high) == high;
}

static void statics(void)
{
    EXPECT(static_grid != 0 && static_row != 0);
    EXPECT(static_grid < static_row); /* in the order of lines */
    EXPECT(same_everywhere(static_grid));
    EXPECT(same_everywhere(static_row));
    for (int i = 0; i < 3 * 5; i++)
        EXPECT_DOUBLE(0.0, ((double *)splitc_address(static_grid))[i]);
    for (long i = 0; i < 7; i++) {
        int value = (int)i, seen;
        splitc_ptr g = splitc_spread_add(static_row, i, sizeof value);

        if (splitc_rank(g) == my_rank())
            splitc_write(g, &value, sizeof value);
        splitc_barrier();
        splitc_read(&seen, g, sizeof seen);
        EXPECT_EQ(value, seen);
    }
}

/* ---- blocks ------------------------------------------------------------------------ */

/* Block L belongs to rank L % PROCS, and all of it is there. */
static void blocks_are_spread(void)
{
    const size_t size = 52;
    const long count = 4 * ranks() + 3;
    splitc_ptr base = splitc_all_spread_malloc(count, (long)size);
    unsigned char block[52];

    EXPECT_EQ(0, splitc_rank(base));
    EXPECT_EQ(0, base % 64);
    EXPECT(same_everywhere(base));
    for (long i = 0; i < count; i++) {
        splitc_ptr g = splitc_spread_add(base, i, size);

        EXPECT_EQ(i % ranks(), splitc_rank(g));
        EXPECT_EQ(i, splitc_spread_diff(g, base, size));
        if (splitc_rank(g) == my_rank())
            fill(splitc_address(g), size, (unsigned)i);
    }
    splitc_barrier();
    for (long i = 0; i < count; i++) {
        splitc_bulk_read(block, splitc_spread_add(base, i, size), (long)size);
        EXPECT_FILLED(block, size, 0, (unsigned)i);
    }
    splitc_all_spread_free(base);
}

#define HELD 8

/* Whatever the number of blocks, the last row of an array ends before the next array begins. */
static void arrays_do_not_overlap(void)
{
    const size_t size = 64; /* no room is left by rounding up */
    splitc_ptr array[HELD];
    unsigned char block[64];

    for (long n = 0; n < HELD; n++)
        array[n] = splitc_all_spread_malloc(n + 1, (long)size);
    for (long n = 0; n < HELD; n++)
        for (long i = 0; i <= n; i++)
            if (splitc_rank(splitc_spread_add(array[n], i, size)) == my_rank())
                fill(splitc_address(splitc_spread_add(array[n], i, size)), size,
                     (unsigned)(HELD * n + i));
    splitc_barrier();
    for (long n = 0; n < HELD; n++)
        for (long i = 0; i <= n; i++) {
            splitc_bulk_read(block, splitc_spread_add(array[n], i, size), (long)size);
            EXPECT_FILLED(block, size, 0, (unsigned)(HELD * n + i));
        }
    for (long n = 0; n < HELD; n++)
        splitc_all_spread_free(array[n]);
}

static void nothing_is_something(void)
{
    splitc_ptr a = splitc_all_spread_malloc(0, 8), b = splitc_all_spread_malloc(8, 0);

    EXPECT(a != 0 && b != 0 && a != b);
    splitc_all_spread_free(b);
    splitc_all_spread_free(a);
    splitc_all_spread_free(0);
}

/* A million elements per processor, several arrays alive at once. */
static void large_arrays(void)
{
    enum { ARRAYS = 3, ELEMENTS = 1000000 };
    splitc_ptr array[ARRAYS];
    long sum = 0;

    for (int a = 0; a < ARRAYS; a++) {
        array[a] = splitc_all_spread_malloc((long)ranks() * ELEMENTS, sizeof(long));
        for (long i = 0; i < ELEMENTS; i++)
            ((long *)splitc_address(array[a]))[i] = a + i;
    }
    splitc_barrier();
    for (int a = 0; a < ARRAYS; a++) {
        long seen;

        splitc_read(&seen, area_at(array[a], neighbour(1), 8 * (ELEMENTS - 1)), sizeof seen);
        EXPECT_EQ(a + ELEMENTS - 1, seen);
        for (long i = 0; i < ELEMENTS; i++)
            sum += ((long *)splitc_address(array[a]))[i];
    }
    EXPECT_EQ(ARRAYS * (ELEMENTS * (ELEMENTS - 1L) / 2) + 3L * ELEMENTS, sum);
    for (int a = 0; a < ARRAYS; a++)
        splitc_all_spread_free(array[a]);
}

/* What is freed is used again: far more passes through than the heap holds. */
static void freed_space_returns(void)
{
    const long bytes = 8 << 20;
    splitc_ptr first = splitc_all_spread_malloc(ranks(), bytes);

    splitc_all_spread_free(first);
    for (int round = 0; round < 64; round++) {
        splitc_ptr again = splitc_all_spread_malloc(ranks(), bytes);

        EXPECT(again == first);
        fill(splitc_address(again), 100, (unsigned)round);
        splitc_all_spread_free(again);
    }
}

/* ---- pages of freed space ----------------------------------------------------------- */

static bool has_page(splitc_ptr block, size_t offset)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = ((uintptr_t)splitc_address(block) + offset) / page * page;
    unsigned char flags = 0;

    EXPECT_EQ(0, mincore((void *)at, page, &flags));
    return flags & 1;
}

/* What is freed keeps its pages for the next, up to four blocks of this size. */
static void freed_pages_are_kept(void)
{
    enum { BLOCKS = 6 };
    const long bytes = 64l << 20, middle = bytes / 2;
    splitc_ptr block[BLOCKS];

    for (int i = 0; i < BLOCKS; i++) {
        block[i] = splitc_all_spread_malloc(ranks(), bytes);
        ((char *)splitc_address(block[i]))[middle] = 1;
    }
    for (int i = 0; i < BLOCKS; i++)
        splitc_all_spread_free(block[i]);
    for (int i = 0; i < BLOCKS; i++)
        EXPECT_EQ(i >= BLOCKS - 4, has_page(block[i], (size_t)middle));
    EXPECT(splitc_all_spread_malloc(ranks(), BLOCKS * bytes) == block[0]);
    EXPECT_EQ(0, ((char *)splitc_address(block[0]))[middle]);
    EXPECT_EQ(1, ((char *)splitc_address(block[BLOCKS - 1]))[middle]);
    splitc_all_spread_free(block[0]); /* too large to be kept */
    for (int i = 0; i < BLOCKS; i++)
        EXPECT_EQ(0, has_page(block[i], (size_t)middle));
}

/* What malloc gets back it hands out again with its pages, which cost more than their use. */
static void malloc_keeps_pages(void)
{
    const size_t bytes = 64ul << 20;
    struct rusage before, after;
    volatile char *block;

    for (int turn = 0; turn < 4; turn++) {
        getrusage(RUSAGE_SELF, &before);
        block = malloc(bytes);
        EXPECT(block != NULL);
        for (size_t at = 0; at < bytes; at += 4096)
            block[at] = (char)turn;
        getrusage(RUSAGE_SELF, &after);
        free((void *)block);
    }
    EXPECT(after.ru_minflt - before.ru_minflt < 100); /* of 16,384 */
    block = malloc(bytes / 2 + (size_t)my_rank());    /* and it is still a malloc */
    block[bytes / 2 - 1] = 1;
    free((void *)block);
}

/* What is reserved and never touched is left out: no mapping that is dumped is large. */
static void cores_are_small(void)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[4096];
    long size = 0, largest = 0; /* KiB */

    EXPECT(maps != NULL);
    while (fgets(line, sizeof line, maps)) {
        sscanf(line, "Size: %ld kB", &size);
        if (strncmp(line, "VmFlags:", 8) == 0 && !strstr(line, " dd") && strstr(line, " wr") &&
            size > largest)
            largest = size;
    }
    fclose(maps);
    if (largest > 1l << 20)
        printf("a mapping of %ld KiB\n", largest);
    EXPECT(largest <= 1l << 20);
}

/* ---- random allocations with contents ----------------------------------------------- */

#define LIVE 40

struct live {
    splitc_ptr base;
    size_t bytes; /* on this rank */
    unsigned seed;
};

static void allocate(struct live *l, uint64_t *common)
{
    long rows = (long)(next_random(common) % 50), size = 1 + (long)(next_random(common) % 3000);

    l->base = splitc_all_spread_malloc(rows * ranks(), size);
    l->bytes = (size_t)(rows * size);
    l->seed = (unsigned)next_random(common) + (unsigned)my_rank();
    fill(splitc_address(l->base), l->bytes, l->seed);
}

static void release(struct live *l)
{
    EXPECT_FILLED(splitc_address(l->base), l->bytes, 0, l->seed);
    splitc_all_spread_free(l->base);
    l->base = 0;
}

static void random_allocations(void)
{
    struct live live[LIVE] = {0};
    uint64_t common = 2024;

    for (int i = 0; i < 600; i++) {
        struct live *l = &live[next_random(&common) % LIVE];

        if (l->base)
            release(l);
        else
            allocate(l, &common);
        if (i % 50 == 0)
            EXPECT(same_everywhere(l->base));
    }
    for (int i = 0; i < LIVE; i++)
        if (live[i].base)
            release(&live[i]);
}

const struct check heap_checks[] = {
    {"statics", statics},
    {"blocks_are_spread", blocks_are_spread},
    {"arrays_do_not_overlap", arrays_do_not_overlap},
    {"nothing_is_something", nothing_is_something},
    {"large_arrays", large_arrays},
    {"freed_space_returns", freed_space_returns},
    {"freed_pages_are_kept", freed_pages_are_kept},
    {"malloc_keeps_pages", malloc_keeps_pages},
    {"cores_are_small", cores_are_small},
    {"random_allocations", random_allocations},
    {0},
};
