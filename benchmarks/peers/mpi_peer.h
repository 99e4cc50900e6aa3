/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_peer.h - what the parts of the micro-benchmarks in MPI share.
 *
 *   mpi.c         the program; messages, and what all ranks do together
 *   mpi_window.c  one-sided accesses and transfers
 */
#ifndef PEERS_MPI_PEER_H
#define PEERS_MPI_PEER_H

#include "../micro/measure.h"

extern int rank;
extern long bytes; /* of a message, or a block */

/* Collective: the value of rank 0; the time, when everybody is there. */
double share(double mine);
double meet_and_start(void);

void measure_accesses(double budget);
void measure_bulk(double budget, int count, char **sizes);
void measure_puts(double budget, int count, char **sizes);
void measure_allocation(double budget);

#endif
