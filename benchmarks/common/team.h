/* SPDX-License-Identifier: BSD-3-Clause
 *
 * team.h - the little that the parts common to the Split-C programs and their MPI twins
 * need of the processors that run them: splitc/team.sc and mpi/team.c.
 */
#ifndef BENCHMARKS_TEAM_H
#define BENCHMARKS_TEAM_H

int team_size(void);
int team_rank(void);

/* Collective, all of them. */
void team_barrier(void);
long team_min(long value); /* exact up to 2^53 */
double team_max(double value);
double team_sum(double value);
long team_before(long value); /* the sum of the values of the processors before this one */
void team_gather(void *to, const void *from, long bytes); /* everybody's, everywhere */

double team_seconds(void);
void team_exit(int code) __attribute__((noreturn));  /* collective, in order */
void team_abort(int code) __attribute__((noreturn)); /* this processor ends all */

/* The program: run on every processor, whose exit code it returns. */
int benchmark_main(int argc, char **argv);

#endif
