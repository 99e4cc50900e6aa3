/* SPDX-License-Identifier: BSD-3-Clause */
#include "team.h"

#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int team_size(void)
{
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

int team_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

void team_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

long team_min(long value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    return value;
}

double team_max(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

double team_sum(double value)
{
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return value;
}

long team_before(long value)
{
    long before = 0;

    MPI_Exscan(&value, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return before;
}

void team_gather(void *to, const void *from, long bytes)
{
    MPI_Allgather(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
}

double team_seconds(void)
{
    return MPI_Wtime();
}

void team_exit(int code)
{
    fflush(NULL);
    MPI_Finalize();
    exit(code);
}

void team_abort(int code)
{
    fflush(NULL);
    MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

int main(int argc, char *argv[])
{
    int code;

    /* Memory that is freed stays with the program, as Split-C's does. */
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    MPI_Init(&argc, &argv);
    code = benchmark_main(argc, argv);
    MPI_Finalize();
    return code;
}
