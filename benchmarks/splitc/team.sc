/* SPDX-License-Identifier: BSD-3-Clause */
#include "team.h"

#include <split-c/gather.h>
#include <split-c/split-c.h>

int team_size(void)
{
    return PROCS;
}

int team_rank(void)
{
    return MYPROC;
}

void team_barrier(void)
{
    barrier();
}

long team_min(long value)
{
    return (long)all_reduce_to_all_dmin((double)value);
}

double team_max(double value)
{
    return all_reduce_to_all_dmax(value);
}

double team_sum(double value)
{
    return all_reduce_to_all_dadd(value);
}

long team_before(long value)
{
    return (long)all_scan_dadd((double)value) - value;
}

void team_gather(void *to, const void *from, long bytes)
{
    all_gather(to, from, bytes);
}

double team_seconds(void)
{
    return get_seconds();
}

void team_exit(int code)
{
    splitc_exit(code);
}

void team_abort(int code)
{
    splitc_exit(code);
}

int splitc_main(int argc, char *argv[])
{
    return benchmark_main(argc, argv);
}
