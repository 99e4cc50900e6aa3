/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi.c - the micro-benchmarks in MPI, as a user of it would write them.
 *
 *   mpi pair MILLISECONDS              messages and one-sided accesses of 2 ranks
 *   mpi messages MILLISECONDS          messages alone
 *   mpi stream MILLISECONDS BYTES...   messages of up to 1 MiB one behind the other
 *   mpi sizes MILLISECONDS BYTES...    round trips and streams of messages of those sizes
 *   mpi bulk MILLISECONDS BYTES...     one-sided transfers of what rank 1 has just written
 *   mpi collective MILLISECONDS
 *   mpi allocation MILLISECONDS
 *   mpi start                          a program that only starts and ends
 */
#include "../micro/measure.h"
#include "../mpi/wait.h"

#include <mpi.h>
#include <string.h>

enum { WORDS = 4, BURST = 4096, OBJECTS = 2048, LEAST = 256 << 10, BLOCKS = 64, STREAMS = 16 };

static int rank;

static double share(double mine)
{
    MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return mine;
}

static double meet_and_start(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return now_ns();
}

/* ---- messages ------------------------------------------------------------------------ */

static void send_words(int to)
{
    static const long words[WORDS];

    MPI_Send(words, sizeof words, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void receive_words(int from)
{
    long words[WORDS];

    MPI_Recv(words, sizeof words, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double round_trips(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++) {
        if (rank == 0)
            send_words(1);
        receive_words(!rank);
        if (rank == 1)
            send_words(0);
    }
    return now_ns() - start;
}

static double one_way(long n)
{
    double start = meet_and_start();

    for (long burst = 0; burst < n; burst++) {
        for (int i = 0; i < BURST; i++)
            rank == 0 ? send_words(1) : receive_words(0);
        rank == 0 ? receive_words(1) : send_words(0);
    }
    return now_ns() - start;
}

/* ---- one-sided accesses ------------------------------------------------------------------ */

static MPI_Win window;
static char *base; /* of our part of it */
static char *own;
static long bytes, blocks;

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

static void measure_messages(double budget)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    measure(&team, "am_round_trip", 1, round_trips, NULL);
    measure(&team, "am_one_way", BURST, one_way, NULL);
}

static void measure_pair(double budget)
{
    struct team alone = {.measures = rank == 0, .alone = 1, .share = share, .budget_ns = budget};

    measure_messages(budget);
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
    MPI_Put(own + i * bytes, (int)bytes, MPI_BYTE, 1, i * bytes, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(1, window);
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

static void measure_bulk(double budget, int count, char **sizes)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    for (int i = 0; i < count; i++)
        measure_size(&team, sizes[i]);
}

/* ---- messages of any size -------------------------------------------------------------------- */

static char landing[1 << 20];

static double long_round_trips(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++) {
        if (rank == 0)
            MPI_Send(landing, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(landing, (int)bytes, MPI_BYTE, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(landing, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return now_ns() - start;
}

/* Several are on their way at once. */
static double stream(long n)
{
    MPI_Request request[STREAMS];
    double start = meet_and_start();

    for (int i = 0; i < STREAMS; i++)
        request[i] = MPI_REQUEST_NULL;
    for (long i = 0; i < n; i++) {
        MPI_Request *one = &request[i % STREAMS];

        MPI_Wait(one, MPI_STATUS_IGNORE);
        if (rank == 0)
            MPI_Isend(landing, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, one);
        else
            MPI_Irecv(landing, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, one);
    }
    wait_all(STREAMS, request);
    rank == 0 ? receive_words(1) : send_words(0);
    return now_ns() - start;
}

static void measure_sizes(double budget, const char *prefix, batch_fn *batch, int count,
                          char **sizes)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};
    char metric[64];

    for (int i = 0; i < count; i++) {
        bytes = atol(sizes[i]);
        snprintf(metric, sizeof metric, "%s_%ld", prefix, bytes);
        measure(&team, metric, 1, batch, NULL);
    }
}

/* ---- all together ------------------------------------------------------------------------- */

static double barriers(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return now_ns() - start;
}

static double int_reductions(long n)
{
    double start = meet_and_start();
    int sum = 0;

    for (long i = 0; i < n; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return now_ns() - start;
}

static double real_reductions(long n)
{
    double start = meet_and_start();
    double mine = rank, most;

    for (long i = 0; i < n; i++)
        MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return now_ns() - start;
}

static double broadcasts(long n)
{
    double start = meet_and_start();
    int value = 0;

    for (long i = 0; i < n; i++)
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return now_ns() - start;
}

static MPI_Comm everybody; /* a communicator like any other */

static double team_barriers(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++)
        MPI_Barrier(everybody);
    return now_ns() - start;
}

static double team_reductions(long n)
{
    double start = meet_and_start();
    int sum = 0;

    for (long i = 0; i < n; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, everybody);
    return now_ns() - start;
}

static char *from, *to;

static double exchanges(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++)
        MPI_Alltoall(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
    return now_ns() - start;
}

static void measure_exchange(const struct team *team, const char *size)
{
    char metric[64];
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    bytes = atol(size);
    from = calloc((size_t)ranks, (size_t)bytes);
    to = calloc((size_t)ranks, (size_t)bytes);
    memset(from, rank, (size_t)(ranks * bytes));
    memset(to, 0, (size_t)(ranks * bytes));
    snprintf(metric, sizeof metric, "alltoall_%ld", bytes);
    measure(team, metric, 1, exchanges, NULL);
    free(from);
    free(to);
}

static void measure_collective(double budget, int count, char **sizes)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    measure(&team, "barrier", 1, barriers, NULL);
    measure(&team, "reduce_int", 1, int_reductions, NULL);
    measure(&team, "reduce_double", 1, real_reductions, NULL);
    measure(&team, "broadcast", 1, broadcasts, NULL);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &everybody);
    measure(&team, "team_barrier", 1, team_barriers, NULL);
    measure(&team, "team_reduce", 1, team_reductions, NULL);
    MPI_Comm_free(&everybody);
    for (int i = 0; i < count; i++)
        measure_exchange(&team, sizes[i]);
}

static double allocations(long n)
{
    double start = meet_and_start();

    for (long i = 0; i < n; i++) {
        MPI_Win_allocate(1 << 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
        MPI_Win_free(&window);
    }
    return now_ns() - start;
}

static void measure_allocation(double budget)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    measure(&team, "spread_malloc", 1, allocations, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "start";
    double budget = argc > 2 ? budget_of(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "pair") == 0)
        measure_pair(budget);
    else if (strcmp(what, "messages") == 0)
        measure_messages(budget);
    else if (strcmp(what, "stream") == 0)
        measure_sizes(budget, "stream", stream, argc - 3, argv + 3);
    else if (strcmp(what, "sizes") == 0) {
        measure_sizes(budget, "round_trip", long_round_trips, argc - 3, argv + 3);
        measure_sizes(budget, "stream", stream, argc - 3, argv + 3);
    } else if (strcmp(what, "bulk") == 0)
        measure_bulk(budget, argc - 3, argv + 3);
    else if (strcmp(what, "collective") == 0)
        measure_collective(budget, argc - 3, argv + 3);
    else if (strcmp(what, "allocation") == 0)
        measure_allocation(budget);
    MPI_Finalize();
    return 0;
}
