/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "library.h"

#include <signal.h>
#include <unistd.h>

static const size_t sizes[] = {1,  2,   3,   4,   7,    8,    9,    12,   15,   16,    17,
                               23, 24,  25,  31,  32,   33,   47,   48,   49,   63,    64,
                               65, 100, 128, 255, 1000, 4095, 4096, 8064, 8065, 65537, 300001};
#define SIZES (sizeof sizes / sizeof *sizes)
#define LARGEST 300001

typedef void storer(splitc_ptr to, const void *from, size_t n);

static void store(splitc_ptr to, const void *from, size_t n)
{
    splitc_store(to, from, n);
}

static void bulk_store(splitc_ptr to, const void *from, size_t n)
{
    splitc_bulk_store(to, from, (long)n);
}

/* Each size goes to a neighbour, who waits for exactly its bytes. */
static void check_storer(storer *put)
{
    size_t room = LARGEST + 3 * GUARD;
    splitc_ptr area = area_open(room);
    unsigned char *source = malloc(room);

    for (size_t i = 0; i < SIZES; i++) {
        size_t n = sizes[i], target = GUARD + i % 13;
        int to = neighbour((int)i), from = neighbour(-(int)i);

        memset(area_here(area), GUARD_BYTE, room);
        splitc_barrier();
        fill(source, n, (unsigned)my_rank());
        put(area_at(area, to, target), source, n);
        memset(source, 0xee, n); /* the source may be reused */
        splitc_store_sync((long)n);
        EXPECT_FILLED(area_here(area) + target, n, 0, (unsigned)from);
        EXPECT_GUARDED(area_here(area) + target, n);
        EXPECT(!splitc_is_store_sync(1));
        splitc_barrier();
    }
    free(source);
    area_close(area);
}

static void store_sizes(void)
{
    check_storer(store);
}

static void bulk_store_sizes(void)
{
    check_storer(bulk_store);
}

/* Bytes count from wherever they come, in any portions; each store_sync takes
 * what it asked for and no more. */
static void store_sync_consumes(void)
{
    splitc_ptr area = area_open(8 * 10 * (size_t)ranks());
    long value = my_rank();

    for (size_t i = 0; i < 10; i++)
        splitc_store(area_at(area, 0, 8 * (10 * (size_t)my_rank() + i)), &value, sizeof value);
    if (my_rank() == 0) {
        splitc_store_sync(8L * 10 * ranks() - 7);
        EXPECT(splitc_is_store_sync(7));
        splitc_store_sync(3);
        splitc_store_sync(0);
        EXPECT(!splitc_is_store_sync(5));
        EXPECT(splitc_is_store_sync(4));
        splitc_store_sync(4);
        EXPECT(!splitc_is_store_sync(1));
        for (int i = 0; i < 10 * ranks(); i++)
            EXPECT_EQ(i / 10, ((long *)splitc_address(area))[i]);
    }
    splitc_barrier();
    area_close(area);
}

static void all_store_sync_consumes(void)
{
    splitc_ptr area = area_open(8 * (size_t)ranks());

    for (long round = 1; round <= 100; round++) {
        for (int r = 0; r < ranks(); r++)
            splitc_store(area_at(area, r, 8 * (size_t)my_rank()), &round, sizeof round);
        splitc_all_store_sync();
        for (int r = 0; r < ranks(); r++)
            EXPECT_EQ(round, ((long *)splitc_address(area))[r]);
        splitc_barrier(); /* the next round must not overwrite what others still look at */
        EXPECT(!splitc_is_store_sync(1));
        splitc_barrier(); /* nor be counted while they ask */
    }
    area_close(area);
}

/* Without anything between them, the stores of a faster rank's next phase must
 * neither complete nor be swallowed by this one's end. */
static void phases_without_barrier(void)
{
    splitc_ptr area = area_open(8 * 2 * (size_t)ranks());
    uint64_t state = 99 + (uint64_t)my_rank();

    for (long phase = 1; phase <= 300; phase++) {
        size_t half = (size_t)(phase % 2) * (size_t)ranks();

        skew(&state);
        for (int r = 0; r < ranks(); r++)
            splitc_store(area_at(area, r, 8 * (half + (size_t)my_rank())), &phase, sizeof phase);
        if (phase % 3 == 0)
            splitc_store_sync(8L * ranks());
        else
            splitc_all_store_sync();
        if (phase % 3 == 0)
            splitc_barrier();
        for (int r = 0; r < ranks(); r++)
            EXPECT_EQ(phase, ((long *)splitc_address(area))[half + (size_t)r]);
    }
    splitc_all_store_sync();
    EXPECT(!splitc_is_store_sync(1));
    splitc_barrier();
    area_close(area);
}

static void reset_forgets(void)
{
    splitc_ptr area = area_open(64);
    char bytes[64] = {0};

    splitc_store(area_at(area, neighbour(1), 0), bytes, 40);
    while (!splitc_is_store_sync(40))
        ;
    splitc_reset_store_sync();
    EXPECT(!splitc_is_store_sync(1));
    splitc_barrier();
    splitc_store(area_at(area, neighbour(1), 0), bytes, 5);
    splitc_store_sync(5);
    splitc_all_store_sync();
    area_close(area);
}

/* A store is counted when it is in place: what is counted can be read. */
static void counted_means_in_place(void)
{
    size_t n = 100000;
    splitc_ptr area = area_open(n);
    unsigned char *source = malloc(n);

    for (unsigned round = 0; round < 20; round++) {
        fill(source, n, round + (unsigned)my_rank());
        splitc_bulk_store(area_at(area, neighbour(1), 0), source, (long)n);
        splitc_store_sync((long)n);
        EXPECT_FILLED(area_here(area), n, 0, round + (unsigned)neighbour(-1));
        splitc_barrier();
    }
    free(source);
    area_close(area);
}

#define FLOOD 4000

/* Everybody stores to everybody as fast as it can. */
static void flood_of_stores(void)
{
    size_t slice = FLOOD * sizeof(int);
    splitc_ptr area = area_open(slice * (size_t)ranks());

    for (int i = 0; i < FLOOD; i++)
        for (int r = 0; r < ranks(); r++) {
            int value = FLOOD * my_rank() + i + r;
            size_t at = slice * (size_t)my_rank() + (size_t)i * sizeof value;

            splitc_store(area_at(area, r, at), &value, sizeof value);
        }
    splitc_all_store_sync();
    for (int r = 0; r < ranks(); r++)
        for (int i = 0; i < FLOOD; i++)
            EXPECT_EQ(FLOOD * r + i + my_rank(), ((int *)splitc_address(area))[FLOOD * r + i]);
    area_close(area);
}

/* Everybody's bulk stores cross, in both directions and all at once. */
static void crossing_bulk_stores(void)
{
    size_t n = 200003;
    splitc_ptr area = area_open(n * (size_t)ranks());
    unsigned char *source = malloc(n);

    fill(source, n, (unsigned)my_rank());
    for (int i = 0; i < ranks(); i++)
        splitc_bulk_store(area_at(area, neighbour(i), n * (size_t)my_rank()), source, (long)n);
    splitc_all_store_sync();
    for (int r = 0; r < ranks(); r++)
        EXPECT_FILLED(area_here(area) + n * (size_t)r, n, 0, (unsigned)r);
    free(source);
    area_close(area);
}

/* A token goes round by stores alone. */
static void store_ring(void)
{
    splitc_ptr area = area_open(sizeof(long));
    volatile long *token = splitc_address(area);
    long next;

    for (long lap = 0; lap < 50; lap++) {
        if (my_rank() != 0 || lap != 0)
            splitc_store_sync(sizeof(long));
        next = *token + 1;
        splitc_store(area_at(area, neighbour(1), 0), &next, sizeof next);
    }
    if (my_rank() == 0) {
        splitc_store_sync(sizeof(long));
        EXPECT_EQ(50L * ranks(), *token);
    }
    splitc_all_store_sync();
    area_close(area);
}

/* Random sizes to random ranks; everybody knows what everybody sends. */
static void random_stores(void)
{
    long received = 0;
    uint64_t state = 4711;
    splitc_ptr area = area_open(4096);
    char *source = calloc(1, 4096);

    for (int i = 0; i < 3000; i++) {
        int from = (int)(next_random(&state) % (unsigned)ranks());
        int to = (int)(next_random(&state) % (unsigned)ranks());
        size_t n = next_random(&state) % (next_random(&state) % 8 ? 32 : 4096);

        if (from == my_rank())
            splitc_store(area_at(area, to, 0), source, n);
        if (to == my_rank())
            received += (long)n;
    }
    splitc_store_sync(received);
    EXPECT(!splitc_is_store_sync(1));
    splitc_barrier();
    EXPECT(!splitc_is_store_sync(1));
    free(source);
    area_close(area);
}

/* ---- a rank that stores and then computes --------------------------------------------- */

static volatile sig_atomic_t told;

static void be_told(int signal)
{
    (void)signal;
    told = 1;
}

enum { BUSY_ROW = 4096, BUSY_ROWS = 300 };

static void store_one_by_one(splitc_ptr to, const char *from, int rows)
{
    for (int i = 0; i < rows; i++)
        splitc_bulk_store(to + (splitc_ptr)i * BUSY_ROW, from + (size_t)i * BUSY_ROW, BUSY_ROW);
}

static void store_rows(splitc_ptr to, const char *from, int rows)
{
    splitc_bulk_store_2d(to, BUSY_ROW, from + (size_t)(rows - 1) * BUSY_ROW, -BUSY_ROW, BUSY_ROW,
                         rows);
}

/* Whatever was stored arrives while its sender is outside the library: the other rank tells it by a
 * signal that all has come, and only then does it go on. */
static void stores_of_a_busy_rank(void)
{
    static void (*const way[])(splitc_ptr, const char *, int) = {store_one_by_one, store_rows};
    static const int rows[] = {1, 2, 7, 8, 9, 40, 127, 128, 129, BUSY_ROWS};
    splitc_ptr area = area_open((size_t)BUSY_ROWS * BUSY_ROW);
    char *from = calloc(BUSY_ROWS, BUSY_ROW);
    int pid = getpid();

    signal(SIGUSR1, be_told);
    splitc_bulk_write(area_at(area, neighbour(1), 0), &pid, sizeof pid);
    splitc_barrier();
    memcpy(&pid, area_here(area), sizeof pid);
    for (size_t i = 0; i < 2 * (sizeof rows / sizeof *rows); i++) {
        splitc_barrier();
        if (my_rank() == 0) {
            told = 0;
            way[i % 2](area_at(area, 1, 0), from, rows[i / 2]);
            while (!told)
                ;
        } else if (my_rank() == 1) {
            splitc_store_sync((long)rows[i / 2] * BUSY_ROW);
            kill(pid, SIGUSR1);
        }
    }
    splitc_barrier();
    free(from);
    area_close(area);
}

/* The same for a rank that has left all_store_sync: it computes when others still wait. */
static void stores_of_a_rank_that_left(void)
{
    splitc_ptr area = area_open((size_t)BUSY_ROWS * BUSY_ROW);
    char *from = calloc(BUSY_ROWS, BUSY_ROW);
    int pid = getpid();

    signal(SIGUSR1, be_told);
    splitc_bulk_write(area_at(area, neighbour(1), 0), &pid, sizeof pid);
    splitc_barrier();
    memcpy(&pid, area_here(area), sizeof pid);
    for (int i = 0; i < 20; i++) {
        splitc_barrier();
        told = 0;
        if (my_rank() == 0)
            splitc_bulk_store(area_at(area, 1, 0), from, BUSY_ROWS * BUSY_ROW);
        splitc_all_store_sync();
        if (my_rank() == 1)
            kill(pid, SIGUSR1);
        while (my_rank() == 0 && !told)
            ;
    }
    splitc_barrier();
    free(from);
    area_close(area);
}

/* all_store_sync is no reduction, though it may be made of them. */
static void store_sync_and_sum(void)
{
    if (my_rank() == 0)
        splitc_all_store_sync();
    else
        splitc_all_reduce_to_all_add(1);
    splitc_barrier();
}

const struct check store_checks[] = {
    {"stores_of_a_rank_that_left", stores_of_a_rank_that_left},
    {"store_sync_and_sum", store_sync_and_sum},
    {"stores_of_a_busy_rank", stores_of_a_busy_rank},
    {"store_sizes", store_sizes},
    {"bulk_store_sizes", bulk_store_sizes},
    {"store_sync_consumes", store_sync_consumes},
    {"all_store_sync_consumes", all_store_sync_consumes},
    {"phases_without_barrier", phases_without_barrier},
    {"reset_forgets", reset_forgets},
    {"counted_means_in_place", counted_means_in_place},
    {"flood_of_stores", flood_of_stores},
    {"crossing_bulk_stores", crossing_bulk_stores},
    {"store_ring", store_ring},
    {"random_stores", random_stores},
    {0},
};
