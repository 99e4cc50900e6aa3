/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.sc MILLISECONDS BYTES... - barriers, reductions and broadcasts of one value, of all; in
 * turn with those of all, barriers and reductions of a team of as many; all-to-all with blocks of
 * those sizes.
 */
#include "measure.h"

#include <split-c/collective.h>
#include <split-c/split-c.h>
#include <string.h>

static splitc_team *everybody; /* a team like any other */
static char *from, *to;
static long bytes;

static double barriers(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        barrier();
    return now_ns() - start;
}

static double int_reductions(long n)
{
    double start;
    int sum = 0;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        sum += all_reduce_to_all_add(MYPROC);
    return now_ns() - start;
}

static double real_reductions(long n)
{
    double start, sum = 0;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        sum += all_reduce_to_all_dmax(MYPROC);
    return now_ns() - start;
}

static double broadcasts(long n)
{
    double start;
    int sum = 0;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        sum += all_bcast_i((int)i);
    barrier();
    return now_ns() - start;
}

static double team_barriers(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        team_barrier(everybody);
    return now_ns() - start;
}

static double team_reductions(long n)
{
    double start;
    int sum = 0;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        sum += team_reduce_to_all_add(everybody, MYPROC);
    return now_ns() - start;
}

static double exchanges(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        team_alltoall(TEAM_ALL, to, from, bytes);
    return now_ns() - start;
}

static void measure_exchange(const struct team *team, const char *size)
{
    char metric[64];

    bytes = atol(size);
    from = malloc(bytes * PROCS);
    to = malloc(bytes * PROCS);
    memset(from, MYPROC, bytes * PROCS);
    memset(to, 0, bytes * PROCS);
    snprintf(metric, sizeof metric, "alltoall_%ld", bytes);
    measure(team, metric, 1, exchanges, 0);
    free(from);
    free(to);
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    measure(&team, "barrier", 1, barriers, 0);
    measure(&team, "reduce_int", 1, int_reductions, 0);
    measure(&team, "reduce_double", 1, real_reductions, 0);
    measure(&team, "broadcast", 1, broadcasts, 0);
    everybody = all_split(0, -MYPROC);
    measure(&team, "team_barrier", 1, team_barriers, barriers);
    measure(&team, "team_reduce", 1, team_reductions, int_reductions);
    team_free(everybody);
    for (int i = 2; i < argc; i++)
        measure_exchange(&team, argv[i]);
    return 0;
}
