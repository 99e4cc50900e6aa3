/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "library.h"

#define ROUNDS 1000

/* Every ticket is drawn exactly once. */
static void fetch_add(void)
{
    splitc_ptr area = area_open(16);
    int tickets = ROUNDS * ranks(), mine = 0, last = -1;

    for (int i = 0; i < ROUNDS; i++) {
        int ticket = splitc_fetch_add(area_at(area, 0, 4), 1);

        EXPECT(ticket > last && ticket < tickets);
        last = ticket;
        mine += ticket % 1000;
    }
    splitc_barrier();
    EXPECT_EQ(tickets, splitc_fetch_add(area_at(area, 0, 4), 0));
    EXPECT_EQ((long)tickets / 1000 * (999 * 1000 / 2), splitc_all_reduce_to_all_add(mine));
    area_close(area);
}

static void fetch_add_long(void)
{
    splitc_ptr area = area_open(16);
    const long step = 1L << 33;

    for (int i = 0; i < ROUNDS; i++)
        splitc_fetch_add_l(area_at(area, neighbour(i), 8), i % 2 ? -step : 2 * step);
    splitc_barrier();
    EXPECT_EQ(step * ROUNDS / 2 * ranks(),
              splitc_all_reduce_to_all_add(
                  (int)(splitc_fetch_add_l(area_at(area, my_rank(), 8), 0) / step)) *
                  step);
    area_close(area);
}

static void operations_return_the_old_value(void)
{
    splitc_ptr area = area_open(16);
    splitc_ptr i = area_at(area, neighbour(1), 0), l = area_at(area, neighbour(1), 8);
    const long big = 1L << 40;

    EXPECT_EQ(0, splitc_exchange(i, -5));
    EXPECT_EQ(-5, splitc_cmp_and_swap(i, -4, 9));
    EXPECT_EQ(-5, splitc_cmp_and_swap(i, -5, 9));
    EXPECT_EQ(9, splitc_fetch_add(i, -9));
    EXPECT_EQ(0, splitc_test_and_set(i));
    EXPECT_EQ(1, splitc_test_and_set(i));
    EXPECT_EQ(0, splitc_exchange_l(l, big));
    EXPECT_EQ(big, splitc_cmp_and_swap_l(l, big + 1, 3));
    EXPECT_EQ(big, splitc_cmp_and_swap_l(l, big, -big));
    EXPECT_EQ(-big, splitc_fetch_add_l(l, 1));
    EXPECT_EQ(1 - big, splitc_exchange_l(l, 0));
    splitc_barrier();
    area_close(area);
}

/* A counter that is read, then written, under a lock. */
static void locks_exclude(void)
{
    splitc_ptr area = area_open(16);
    splitc_ptr lock = area_at(area, ranks() - 1, 0), counter = area_at(area, 0, 8);
    long value;

    for (int i = 0; i < 100; i++) {
        splitc_lock(lock);
        EXPECT(!splitc_trylock(lock));
        splitc_read(&value, counter, sizeof value);
        value++;
        splitc_write(counter, &value, sizeof value);
        splitc_unlock(lock);
    }
    splitc_barrier();
    splitc_read(&value, counter, sizeof value);
    EXPECT_EQ(100L * ranks(), value);
    if (my_rank() == 0)
        EXPECT(splitc_trylock(lock));
    splitc_barrier();
    area_close(area);
}

/* Ranks set fields of their own, 7 bits wide and side by side, as many as a word has room for. */
static void masked_writes_keep_neighbours(void)
{
    const size_t fields = 64 / 7, rank = (size_t)my_rank();
    splitc_ptr area = area_open(((size_t)ranks() / fields + 1) * sizeof(uint64_t));
    splitc_ptr shared = area_at(area, 0, rank / fields * sizeof(uint64_t));
    unsigned shift = 7 * (unsigned)(rank % fields);
    uint64_t mask = 0x7full << shift, word;

    for (uint64_t i = 0; i < 200; i++) {
        uint64_t bits = (i % 128) << shift;

        splitc_write_masked(shared, &mask, &bits, sizeof bits);
        splitc_read(&word, shared, sizeof word);
        EXPECT_EQ((long long)bits, (long long)(word & mask));
    }
    area_close(area);
}

/* Storage units of every size, at odd places, next to bytes that stay. */
static void masked_write_sizes(void)
{
    for (size_t n = 1; n <= 24; n++) {
        splitc_ptr area = area_open(2 * GUARD + 64);
        unsigned char mask[24], bits[24];
        char *here = area_here(area);

        memset(here, GUARD_BYTE, 2 * GUARD + 64);
        fill(bits, n, (unsigned)my_rank());
        fill(mask, n, 77);
        splitc_barrier();
        splitc_write_masked(area_at(area, neighbour(1), GUARD + 3), mask, bits, n);
        splitc_barrier();
        fill(bits, n, (unsigned)neighbour(-1));
        for (size_t k = 0; k < n; k++)
            EXPECT_EQ((GUARD_BYTE & ~mask[k]) | (bits[k] & mask[k]),
                      (unsigned char)here[GUARD + 3 + k]);
        EXPECT_GUARDED(here + GUARD + 3, n);
        area_close(area);
    }
}

const struct check atomic_checks[] = {
    {"fetch_add", fetch_add},
    {"fetch_add_long", fetch_add_long},
    {"operations_return_the_old_value", operations_return_the_old_value},
    {"locks_exclude", locks_exclude},
    {"masked_writes_keep_neighbours", masked_writes_keep_neighbours},
    {"masked_write_sizes", masked_write_sizes},
    {0},
};
