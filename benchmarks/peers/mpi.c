/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi.c - the micro-benchmarks in MPI, as a user of it would write them.
 *
 *   mpi pair MILLISECONDS              messages and one-sided accesses of 2 ranks
 *   mpi messages MILLISECONDS          messages alone
 *   mpi stream MILLISECONDS BYTES...   messages of up to 1 MiB one behind the other
 *   mpi sizes MILLISECONDS BYTES...    round trips and streams of messages of those sizes
 *   mpi bulk MILLISECONDS BYTES...     one-sided transfers of what rank 1 has just written
 *   mpi puts MILLISECONDS BYTES...     puts, each complete at the target, by one rank and by both
 *   mpi collective MILLISECONDS
 *   mpi allocation MILLISECONDS
 *   mpi start                          a program that only starts and ends
 */
#include "../mpi/wait.h"
#include "mpi_peer.h"

#include <mpi.h>
#include <string.h>

enum { WORDS = 4, BURST = 4096, STREAMS = 16 };

int rank;
long bytes;

double share(double mine)
{
    MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return mine;
}

double meet_and_start(void)
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

static void measure_messages(double budget)
{
    struct team team = {.measures = rank == 0, .share = share, .budget_ns = budget};

    measure(&team, "am_round_trip", 1, round_trips, NULL);
    measure(&team, "am_one_way", BURST, one_way, NULL);
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

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "start";
    double budget = argc > 2 ? budget_of(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "pair") == 0) {
        measure_messages(budget);
        measure_accesses(budget);
    } else if (strcmp(what, "messages") == 0)
        measure_messages(budget);
    else if (strcmp(what, "stream") == 0)
        measure_sizes(budget, "stream", stream, argc - 3, argv + 3);
    else if (strcmp(what, "sizes") == 0) {
        measure_sizes(budget, "round_trip", long_round_trips, argc - 3, argv + 3);
        measure_sizes(budget, "stream", stream, argc - 3, argv + 3);
    } else if (strcmp(what, "bulk") == 0)
        measure_bulk(budget, argc - 3, argv + 3);
    else if (strcmp(what, "puts") == 0)
        measure_puts(budget, argc - 3, argv + 3);
    else if (strcmp(what, "collective") == 0)
        measure_collective(budget, argc - 3, argv + 3);
    else if (strcmp(what, "allocation") == 0)
        measure_allocation(budget);
    MPI_Finalize();
    return 0;
}
