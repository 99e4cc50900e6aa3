/* SPDX-License-Identifier: BSD-3-Clause
 *
 * window.h - memory that other processors reach.
 */
#ifndef BENCHMARKS_MPI_WINDOW_H
#define BENCHMARKS_MPI_WINDOW_H

#include <mpi.h>
#include <stddef.h>

/* MPICH 4.0 finds the memory of others at the wrong place where lengths are no multiple of
 * 16. */
#define WINDOW_ALIGNMENT 64

/* Collective: room for n things of that many bytes, counted in them. */
static inline void *window_allocate(long n, size_t bytes, MPI_Win *window)
{
    MPI_Aint all = (MPI_Aint)(n * bytes + WINDOW_ALIGNMENT - 1) & -WINDOW_ALIGNMENT;
    void *at;

    MPI_Win_allocate(all, (int)bytes, MPI_INFO_NULL, MPI_COMM_WORLD, &at, window);
    return at;
}

#endif
