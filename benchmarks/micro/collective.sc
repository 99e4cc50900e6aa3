/* SPDX-License-Identifier: BSD-3-Clause
 *
 * collective.sc MILLISECONDS - barriers, reductions and broadcasts of one value.
 */
#include "measure.h"

#include <split-c/split-c.h>

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

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    measure(&team, "barrier", 1, barriers, 0);
    measure(&team, "reduce_int", 1, int_reductions, 0);
    measure(&team, "reduce_double", 1, real_reductions, 0);
    measure(&team, "broadcast", 1, broadcasts, 0);
    return 0;
}
