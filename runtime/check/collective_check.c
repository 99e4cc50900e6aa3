/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "library.h"

#include <limits.h>
#include <math.h>

/* Nobody leaves a barrier before everybody has come to it. */
static void barrier_holds(void)
{
    splitc_ptr area = area_open(sizeof(int));
    uint64_t state = 7 + (uint64_t)my_rank();

    for (int round = 1; round <= 200; round++) {
        skew(&state);
        splitc_fetch_add(area_at(area, 0, 0), 1);
        splitc_barrier();
        EXPECT_EQ(round * ranks(), splitc_fetch_add(area_at(area, 0, 0), 0));
        splitc_barrier();
    }
    area_close(area);
}

/* A rank in a barrier serves the accesses of those that are not. */
static void barrier_serves(void)
{
    splitc_ptr area = area_open(sizeof(long));

    *(long *)splitc_address(area) = my_rank();
    splitc_barrier();
    if (my_rank() == 0)
        for (int i = 0; i < 2000; i++) {
            long seen;

            splitc_read(&seen, area_at(area, neighbour(i), 0), sizeof seen);
            EXPECT_EQ(neighbour(i), seen);
        }
    splitc_barrier();
    area_close(area);
}

/* A barrier completes neither gets nor stores, but does not disturb them. */
static void barrier_amid_traffic(void)
{
    splitc_ptr area = area_open(8 * 100);
    long got[100], value = my_rank();

    for (size_t i = 0; i < 50; i++)
        ((long *)splitc_address(area))[i] = 100 * my_rank() + (long)i;
    splitc_barrier();
    for (size_t i = 0; i < 50; i++) {
        splitc_get(&got[i], area_at(area, neighbour(1), 8 * i), sizeof(long));
        splitc_store(area_at(area, neighbour(1), 8 * (50 + i)), &value, sizeof value);
        splitc_barrier();
    }
    splitc_sync();
    splitc_store_sync(50 * sizeof(long));
    for (int i = 0; i < 50; i++) {
        EXPECT_EQ(100 * neighbour(1) + i, got[i]);
        EXPECT_EQ(neighbour(-1), ((long *)splitc_address(area))[50 + i]);
    }
    area_close(area);
}

static int value_of(int rank, int round)
{
    uint64_t state = (uint64_t)rank * 1000003 + (uint64_t)round;

    return (int)next_random(&state) / 70000;
}

static void reduce_int(void)
{
    for (int round = 0; round < 100; round++) {
        int sum = 0, max = INT_MIN, min = INT_MAX;

        for (int r = 0; r < ranks(); r++) {
            int v = value_of(r, round);

            sum += v;
            max = v > max ? v : max;
            min = v < min ? v : min;
        }
        EXPECT_EQ(sum, splitc_all_reduce_to_all_add(value_of(my_rank(), round)));
        EXPECT_EQ(max, splitc_all_reduce_to_all_max(value_of(my_rank(), round)));
        EXPECT_EQ(min, splitc_all_reduce_to_all_min(value_of(my_rank(), round)));
    }
    EXPECT_EQ((int)((unsigned)INT_MAX * (unsigned)ranks()), splitc_all_reduce_to_all_add(INT_MAX));
    EXPECT_EQ(INT_MIN, splitc_all_reduce_to_all_min(my_rank() ? INT_MAX : INT_MIN));
}

static void reduce_double(void)
{
    for (int round = 0; round < 100; round++) {
        double sum = 0, max = -1e300, min = 1e300;

        for (int r = 0; r < ranks(); r++) {
            double v = value_of(r, round) / 1024.0;

            sum += v; /* exact */
            max = v > max ? v : max;
            min = v < min ? v : min;
        }
        EXPECT_DOUBLE(sum, splitc_all_reduce_to_all_dadd(value_of(my_rank(), round) / 1024.0));
        EXPECT_DOUBLE(max, splitc_all_reduce_to_all_dmax(value_of(my_rank(), round) / 1024.0));
        EXPECT_DOUBLE(min, splitc_all_reduce_to_all_dmin(value_of(my_rank(), round) / 1024.0));
    }
}

/* What a binomial tree over so many ranks gives. */
static double sum_of_tree(double of_rank(int), int ranks)
{
    double *sum = calloc((size_t)ranks, sizeof *sum), all;

    for (int r = 0; r < ranks; r++)
        sum[r] = of_rank(r);
    for (int step = 1; step < ranks; step *= 2)
        for (int r = 0; r + step < ranks; r += 2 * step)
            sum[r] += sum[r + step];
    all = sum[0];
    free(sum);
    return all;
}

static double third(int rank)
{
    return 1.0 / (3 + rank);
}

/* Sums of doubles that depend on the order: the same bits each time, everywhere, and however the
 * ranks are placed. */
static void reduce_double_repeats(void)
{
    double mine = third(my_rank()), first = splitc_all_reduce_to_all_dadd(mine);
    double expected = sum_of_tree(third, ranks());
    uint64_t state = 31 + (uint64_t)my_rank();

    EXPECT_EQ(0, memcmp(&first, &expected, sizeof first));
    for (int round = 0; round < 200; round++) {
        double again;

        skew(&state);
        again = splitc_all_reduce_to_all_dadd(mine);
        EXPECT_EQ(0, memcmp(&first, &again, sizeof again));
        again = splitc_all_bcast_d(first);
        EXPECT_EQ(0, memcmp(&first, &again, sizeof again));
    }
}

/* Zeros of either sign and numbers that are none, of which the greatest depends on the order. */
static double peculiar(int rank)
{
    static const double value[] = {0.0, -0.0, (double)NAN, 1.0, -1.0};

    return value[(unsigned)rank % 5];
}

static double greatest_of_tree(int ranks)
{
    double *greatest = calloc((size_t)ranks, sizeof *greatest), all;

    for (int r = 0; r < ranks; r++)
        greatest[r] = peculiar(r);
    for (int step = 1; step < ranks; step *= 2)
        for (int r = 0; r + step < ranks; r += 2 * step)
            greatest[r] = greatest[r] > greatest[r + step] ? greatest[r] : greatest[r + step];
    all = greatest[0];
    free(greatest);
    return all;
}

/* Values combine in the order of ranks, on every rank: all have the same bits even where the order
 * matters. */
static void reduce_in_the_order_of_ranks(void)
{
    double expected = greatest_of_tree(ranks());
    double seen = splitc_all_reduce_to_all_dmax(peculiar(my_rank()));

    EXPECT_EQ(0, memcmp(&expected, &seen, sizeof seen));
    seen = splitc_all_reduce_to_one_dmax(peculiar(my_rank()));
    EXPECT(my_rank() != 0 || memcmp(&expected, &seen, sizeof seen) == 0);
}

static void reduce_to_one(void)
{
    int n = ranks(), sum = n * (n - 1) / 2, root = my_rank() == 0;

    EXPECT_EQ(root ? sum : 0, splitc_all_reduce_to_one_add(my_rank()));
    EXPECT_EQ(root ? n - 8 : 0, splitc_all_reduce_to_one_max(my_rank() - 7));
    EXPECT_EQ(root ? -7 : 0, splitc_all_reduce_to_one_min(my_rank() - 7));
    EXPECT_DOUBLE(root ? 0.5 * sum : 0, splitc_all_reduce_to_one_dadd(0.5 * my_rank()));
    EXPECT_DOUBLE(root ? 0.5 * (n - 1) : 0, splitc_all_reduce_to_one_dmax(0.5 * my_rank()));
    EXPECT_DOUBLE(root ? -0.5 : 0, splitc_all_reduce_to_one_dmin(my_rank() - 0.5));
}

static void broadcast(void)
{
    for (int round = 0; round < 100; round++) {
        EXPECT_EQ(value_of(0, round), splitc_all_bcast_i(value_of(my_rank(), round)));
        EXPECT_DOUBLE(value_of(0, round) / 3.0,
                      splitc_all_bcast_d(value_of(my_rank(), round) / 3.0));
    }
}

static void scan_int(void)
{
    for (int round = 0; round < 50; round++) {
        int sum = 0, max = INT_MIN, min = INT_MAX;

        for (int r = 0; r <= my_rank(); r++) {
            int v = value_of(r, round);

            sum += v;
            max = v > max ? v : max;
            min = v < min ? v : min;
        }
        EXPECT_EQ(sum, splitc_all_scan_add(value_of(my_rank(), round)));
        EXPECT_EQ(max, splitc_all_scan_max(value_of(my_rank(), round)));
        EXPECT_EQ(min, splitc_all_scan_min(value_of(my_rank(), round)));
    }
}

static void scan_double(void)
{
    double sum = 0, max = -1e300, min = 1e300;

    for (int r = 0; r <= my_rank(); r++) {
        double v = value_of(r, 1) / 1024.0;

        sum += v;
        max = v > max ? v : max;
        min = v < min ? v : min;
    }
    EXPECT_DOUBLE(sum, splitc_all_scan_dadd(value_of(my_rank(), 1) / 1024.0));
    EXPECT_DOUBLE(max, splitc_all_scan_dmax(value_of(my_rank(), 1) / 1024.0));
    EXPECT_DOUBLE(min, splitc_all_scan_dmin(value_of(my_rank(), 1) / 1024.0));
}

/* One-way collectives let ranks run ahead; nothing may be lost or mixed up. */
static void running_ahead(void)
{
    uint64_t state = 3;

    for (int round = 0; round < 300; round++) {
        int slow = (int)(next_random(&state) % (unsigned)ranks());

        if (my_rank() == slow)
            skew(&state);
        else
            next_random(&state);
        EXPECT_EQ(round, splitc_all_bcast_i(my_rank() == 0 ? round : -1));
        EXPECT_EQ(my_rank() == 0 ? round * ranks() : 0, splitc_all_reduce_to_one_add(round));
    }
}

/* The sum of the values of ranks first..last. */
static int sum_of(int first, int last, int round)
{
    int sum = 0;

    for (int r = first; r <= last; r++)
        sum += value_of(r, round);
    return sum;
}

/* All kinds in random order, with ranks that come at random times. */
static void mixed_collectives(void)
{
    uint64_t common = 17, own = 1000 + (uint64_t)my_rank();
    int last = ranks() - 1;

    for (int round = 0; round < 500; round++) {
        int mine = value_of(my_rank(), round);

        skew(&own);
        switch (next_random(&common) % 5) {
        case 0:
            EXPECT_EQ(sum_of(0, last, round), splitc_all_reduce_to_all_add(mine));
            break;
        case 1:
            EXPECT_EQ(my_rank() ? 0 : sum_of(0, last, round), splitc_all_reduce_to_one_add(mine));
            break;
        case 2:
            EXPECT_EQ(sum_of(0, my_rank(), round), splitc_all_scan_add(mine));
            break;
        case 3:
            EXPECT_EQ(value_of(0, round), splitc_all_bcast_i(mine));
            break;
        default:
            splitc_barrier();
        }
    }
}

static void gather(void)
{
    size_t block = 37;
    unsigned char mine[37], *all = malloc(block * (size_t)ranks());
    int *numbers = malloc(sizeof *numbers * (size_t)ranks());
    double *reals = malloc(sizeof *reals * (size_t)ranks());

    fill(mine, block, (unsigned)my_rank());
    splitc_all_gather(all, mine, (long)block);
    splitc_all_gather_i(numbers, 10 * my_rank());
    splitc_all_gather_d(reals, 0.1 * my_rank());
    for (int r = 0; r < ranks(); r++) {
        EXPECT_FILLED(all + block * (size_t)r, block, 0, (unsigned)r);
        EXPECT_EQ(10 * r, numbers[r]);
        EXPECT_DOUBLE(0.1 * r, reals[r]);
    }
    free(reals);
    free(numbers);
    free(all);
}

/* What all forms for one type give, which is what one rank alone computes. */
#define EXPECT_FORMS(letter, type, of_rank)                                                        \
    do {                                                                                           \
        type add = 0, max = of_rank(0), min = of_rank(0), mine = of_rank(my_rank());               \
        type *all = malloc(sizeof *all * (size_t)ranks());                                         \
                                                                                                   \
        splitc_all_gather_##letter(all, mine);                                                     \
        for (int r = 0; r < ranks(); r++) {                                                        \
            type v = of_rank(r);                                                                   \
                                                                                                   \
            EXPECT(all[r] == v);                                                                   \
            add += v;                                                                              \
            max = v > max ? v : max;                                                               \
            min = v < min ? v : min;                                                               \
            if (r == my_rank()) {                                                                  \
                EXPECT(splitc_all_scan_##letter##add(mine) == add);                                \
                EXPECT(splitc_all_scan_##letter##max(mine) == max);                                \
                EXPECT(splitc_all_scan_##letter##min(mine) == min);                                \
            }                                                                                      \
        }                                                                                          \
        EXPECT(splitc_all_reduce_to_all_##letter##add(mine) == add);                               \
        EXPECT(splitc_all_reduce_to_all_##letter##max(mine) == max);                               \
        EXPECT(splitc_all_reduce_to_all_##letter##min(mine) == min);                               \
        EXPECT(splitc_all_reduce_to_one_##letter##add(mine) == (my_rank() ? 0 : add));             \
        EXPECT(splitc_all_reduce_to_one_##letter##max(mine) == (my_rank() ? 0 : max));             \
        EXPECT(splitc_all_reduce_to_one_##letter##min(mine) == (my_rank() ? 0 : min));             \
        EXPECT(splitc_all_bcast_##letter(mine) == of_rank(0));                                     \
        free(all);                                                                                 \
    } while (0)

/* Of either sign, and beyond 32 bits. */
static long some_long(int rank)
{
    return (rank % 2 ? -1 : 1) * (3000000000L + rank);
}

/* Their sums wrap. */
static unsigned some_unsigned(int rank)
{
    return 4000000000u + (unsigned)rank * 7;
}

static unsigned long some_unsigned_long(int rank)
{
    return rank % 2 ? 5 : ULONG_MAX - (unsigned long)rank;
}

/* Their sums are exact. */
static float some_float(int rank)
{
    return (float)(rank - 2) / 1024;
}

static void forms_for_types(void)
{
    EXPECT_FORMS(l, long, some_long);
    EXPECT_FORMS(u, unsigned, some_unsigned);
    EXPECT_FORMS(ul, unsigned long, some_unsigned_long);
    EXPECT_FORMS(f, float, some_float);
}

/* Sums of floats that depend on the order: the same bits everywhere, those of a sum of doubles. */
static void reduce_float_repeats(void)
{
    float mine = (float)third(my_rank()), sum = splitc_all_reduce_to_all_fadd(mine), root;
    float expected = (float)splitc_all_reduce_to_all_dadd(mine);

    EXPECT_EQ(0, memcmp(&sum, &expected, sizeof sum));
    root = splitc_all_bcast_f(sum);
    EXPECT_EQ(0, memcmp(&sum, &root, sizeof sum));
}

const struct check collective_checks[] = {
    {"barrier_holds", barrier_holds},
    {"barrier_serves", barrier_serves},
    {"barrier_amid_traffic", barrier_amid_traffic},
    {"reduce_int", reduce_int},
    {"reduce_double", reduce_double},
    {"reduce_double_repeats", reduce_double_repeats},
    {"reduce_in_the_order_of_ranks", reduce_in_the_order_of_ranks},
    {"reduce_to_one", reduce_to_one},
    {"broadcast", broadcast},
    {"scan_int", scan_int},
    {"scan_double", scan_double},
    {"running_ahead", running_ahead},
    {"mixed_collectives", mixed_collectives},
    {"gather", gather},
    {"forms_for_types", forms_for_types},
    {"reduce_float_repeats", reduce_float_repeats},
    {0},
};
