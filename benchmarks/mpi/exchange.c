/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange.h"

#include "common.h"
#include "team.h"
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static long starts(const int *count, int *at)
{
    long all = 0;

    for (int p = 0; p < team_size(); p++) {
        at[p] = (int)all;
        all += count[p];
    }
    all_require(all > INT_MAX ? "more than 2^31 things for one processor" : NULL, "MPI",
                "take more processors");
    return all;
}

struct exchange exchange_plan(const long count[])
{
    size_t bytes = team_size() * sizeof(int);
    struct exchange x = {allocate(bytes), allocate(bytes), allocate(bytes), allocate(bytes), 0, 0};

    for (int p = 0; p < team_size(); p++)
        x.out[p] = (int)count[p];
    MPI_Alltoall(x.out, 1, MPI_INT, x.in, 1, MPI_INT, MPI_COMM_WORLD);
    x.out_all = starts(x.out, x.out_at);
    x.in_all = starts(x.in, x.in_at);
    return x;
}

void exchange_free(struct exchange *x)
{
    free(x->out);
    free(x->out_at);
    free(x->in);
    free(x->in_at);
}

static MPI_Datatype thing_of(size_t bytes)
{
    MPI_Datatype type;

    MPI_Type_contiguous((int)bytes, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

void exchange_send(const struct exchange *x, const void *from, void *to, size_t bytes)
{
    MPI_Datatype thing = thing_of(bytes);

    MPI_Alltoallv(from, x->out, x->out_at, thing, to, x->in, x->in_at, thing, MPI_COMM_WORLD);
    MPI_Type_free(&thing);
}

void exchange_answer(const struct exchange *x, const void *from, void *to, size_t bytes)
{
    MPI_Datatype thing = thing_of(bytes);

    MPI_Alltoallv(from, x->in, x->in_at, thing, to, x->out, x->out_at, thing, MPI_COMM_WORLD);
    MPI_Type_free(&thing);
}
