/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_window.c - one-sided accesses and transfers.
 */
#include "mpi_peer.h"

#include <mpi.h>
#include <string.h>

enum { OBJECTS = 2048, LEAST = 256 << 10, BLOCKS = 64 };

/* ---- one-sided accesses ------------------------------------------------------------------ */

static MPI_Win window;
static char *base; /* of our part of it */
static char *own;
static long blocks;

static void open_window(long size)
{
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    own = malloc((size_t)size);
    memset(base, 1, (size_t)size);
    memset(own, 1, (size_t)size);
    MPI_Win_lock_all(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(void)
{
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    free(own);
}

static double reads(long n)
{
    double start = now_ns();
    long value;

    for (; n > 0; n--)
        for (long i = 0; i < OBJECTS; i++) {
            MPI_Get(&value, 8, MPI_BYTE, 1, i * 8, 8, MPI_BYTE, window);
            MPI_Win_flush(1, window);
        }
    return now_ns() - start;
}

static double writes(long n)
{
    double start = now_ns();

    for (; n > 0; n--)
        for (long i = 0; i < OBJECTS; i++) {
            MPI_Put(&i, 8, MPI_BYTE, 1, i * 8, 8, MPI_BYTE, window);
            MPI_Win_flush(1, window);
        }
    return now_ns() - start;
}

static double gets(long n)
{
    long *to = (long *)own;
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < OBJECTS; i++)
            MPI_Get(&to[i], 8, MPI_BYTE, 1, i * 8, 8, MPI_BYTE, window);
        MPI_Win_flush(1, window);
    }
    return now_ns() - start;
}

static double put_all(long n)
{
    const long *from = (const long *)own;
    double start = now_ns();

    for (; n > 0; n--) {
        for (long i = 0; i < OBJECTS; i++)
            MPI_Put(&from[i], 8, MPI_BYTE, 1, i * 8, 8, MPI_BYTE, window);
        MPI_Win_flush(1, window);
    }
    return now_ns() - start;
}

static double fetch_adds(long n)
{
    const long one = 1;
    double start = now_ns();
    long old;

    for (; n > 0; n--) {
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 1, 0, MPI_SUM, window);
        MPI_Win_flush(1, window);
    }
    return now_ns() - start;
}

void measure_accesses(double budget)
{
    struct team alone = {.measures = rank == 0, .alone = 1, .share = share, .budget_ns = budget};

    open_window(OBJECTS * 8);
    measure(&alone, "read", OBJECTS, reads, NULL);
    measure(&alone, "write", OBJECTS, writes, NULL);
    measure(&alone, "get", OBJECTS, gets, NULL);
    measure(&alone, "put", OBJECTS, put_all, NULL);
    measure(&alone, "fetch_add", 1, fetch_adds, NULL);
    close_window();
}

/* ---- large ones ----------------------------------------------------------------------------- */

static void read_block(long i)
{
    MPI_Get(own + i * bytes, (int)bytes, MPI_BYTE, 1, i * bytes, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(1, window);
}

static void write_block(long i)
{
    MPI_Put(own + i * bytes, (int)bytes, MPI_BYTE, !rank, i * bytes, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(!rank, window);
}

/* Each time rank 1 has written the blocks before. */
static double move(long n, void (*one)(long i))
{
    double ns = 0;

    for (long turn = 0; turn < n; turn++) {
        double start;

        if (rank == 1)
            memset(base, (int)turn, (size_t)(blocks * bytes));
        MPI_Win_sync(window);
        start = meet_and_start();
        for (long i = 0; rank == 0 && i < blocks; i++)
            one(i);
        ns += now_ns() - start;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return ns;
}

static double bulk_reads(long n)
{
    return move(n, read_block);
}

static double bulk_writes(long n)
{
    return move(n, write_block);
}

static void measure_size(const struct team *team, const char *text)
{
    char metric[64];

    bytes = atol(text);
    blocks = bytes < LEAST ? LEAST / bytes : 1;
    blocks = blocks < BLOCKS ? blocks : BLOCKS;
    open_window(bytes * blocks);
    snprintf(metric, sizeof metric, "bulk_read_%ld", bytes);
    measure(team, metric, blocks, bulk_reads, NULL);
    snprintf(metric, sizeof metric, "bulk_write_%ld", bytes);
    measure(team, metric, blocks, bulk_writes, NULL);
    close_window();
}

void measure_bulk(double budget, int count, char **sizes)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    for (int i = 0; i < count; i++)
        measure_size(&team, sizes[i]);
}

/* The target waits in a barrier meanwhile, where it serves puts. */
static double puts_one_way(long n)
{
    double ns = meet_and_start();

    for (long i = 0; rank == 0 && i < n; i++)
        write_block(0);
    ns = now_ns() - ns;
    MPI_Barrier(MPI_COMM_WORLD);
    return ns;
}

static double puts_both_ways(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++)
        write_block(0);
    MPI_Barrier(MPI_COMM_WORLD);
    return now_ns() - start;
}

static void expect_from_other(void)
{
    MPI_Win_sync(window);
    for (long i = 0; i < bytes; i++)
        if (base[i] != 2 + !rank) {
            fprintf(stderr, "byte %ld of a put has not arrived\n", i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

void measure_puts(double budget, int count, char **sizes)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};
    char metric[64];

    for (int i = 0; i < count; i++) {
        bytes = atol(sizes[i]);
        open_window(bytes);
        memset(own, 2 + rank, (size_t)bytes);
        snprintf(metric, sizeof metric, "put_%ld", bytes);
        measure(&team, metric, 1, puts_one_way, NULL);
        if (rank == 1)
            expect_from_other();
        snprintf(metric, sizeof metric, "exchange_%ld", bytes);
        measure(&team, metric, 1, puts_both_ways, NULL);
        expect_from_other();
        close_window();
    }
}

/* ---- allocation ---------------------------------------------------------------------------- */

static double allocations(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++) {
        MPI_Win_allocate(1 << 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        MPI_Win_free(&window);
    }
    return now_ns() - start;
}

void measure_allocation(double budget)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    measure(&team, "spread_malloc", 1, allocations, NULL);
}
