/* SPDX-License-Identifier: BSD-3-Clause
 *
 * wait.h - wait for several messages.  (MPI_Waitall with MPI_STATUSES_IGNORE makes gcc warn
 * about MPICH's header.)
 */
#ifndef BENCHMARKS_MPI_WAIT_H
#define BENCHMARKS_MPI_WAIT_H

#include <mpi.h>

static inline void wait_all(int n, MPI_Request request[])
{
    for (int i = 0; i < n; i++)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
}

#endif
