/* SPDX-License-Identifier: BSD-3-Clause
 *
 * handle_check.c - transfers that complete one by one.
 */
#include "check.h"
#include "library.h"

enum { SIZES = 9, LARGEST = 200000 };

static const size_t size_of[SIZES] = {0, 1, 8, 24, 25, 300, 8064, 8065, LARGEST};

/* Every size, completed in another order than begun; the others go on. */
static void handles_complete(void)
{
    splitc_ptr area = area_open(2 * LARGEST);
    char *mine = malloc(LARGEST), *got = malloc((size_t)SIZES * LARGEST);
    unsigned long get[SIZES], put;

    fill(mine, LARGEST, 50u + (unsigned)my_rank());
    for (int turn = 0; turn < ranks(); turn++) {
        const int there = neighbour(turn);

        fill(area_here(area), LARGEST, (unsigned)my_rank());
        splitc_barrier();
        for (int i = 0; i < SIZES; i++)
            get[i] =
                splitc_bulk_get_h(got + i * LARGEST, area_at(area, there, 0), (long)size_of[i]);
        put = splitc_bulk_put_h(area_at(area, there, LARGEST), mine, LARGEST);
        for (int i = SIZES - 1; i >= 0; i -= 2) {
            splitc_sync_h(get[i]);
            EXPECT(splitc_test_h(get[i]));
            EXPECT_FILLED(got + i * LARGEST, size_of[i], 0, (unsigned)there);
        }
        splitc_sync_h(put);
        splitc_barrier();
        EXPECT_FILLED(area_here(area) + LARGEST, LARGEST, 0, 50u + (unsigned)neighbour(-turn));
        for (int i = 0; i < SIZES; i++)
            while (!splitc_test_h(get[i]))
                ;
        EXPECT_FILLED(got + 7 * LARGEST, size_of[7], 0, (unsigned)there);
        splitc_barrier();
    }
    free(got);
    free(mine);
    area_close(area);
}

/* sync() completes them, too; one that is complete, or 0, is no error. */
static void handles_and_sync(void)
{
    splitc_ptr area = area_open(4096);
    unsigned long old[500];
    char got[4096];

    fill(area_here(area), sizeof got, (unsigned)my_rank());
    splitc_barrier();
    for (int i = 0; i < 500; i++)
        old[i] = splitc_bulk_get_h(got, area_at(area, neighbour(1), 0), sizeof got);
    splitc_sync();
    EXPECT(splitc_is_sync());
    EXPECT_FILLED(got, sizeof got, 0, (unsigned)neighbour(1));
    for (int i = 0; i < 500; i++) {
        EXPECT(splitc_test_h(old[i]));
        splitc_sync_h(old[i]);
    }
    splitc_sync_h(0);
    EXPECT(splitc_test_h(0));
    area_close(area);
}

static void no_handle(void)
{
    splitc_sync_h(0x123456789abc);
}

const struct check handle_checks[] = {
    {"handles_complete", handles_complete},
    {"handles_and_sync", handles_and_sync},
    {"no_handle", no_handle},
    {0},
};
