// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <split-c/am.h>
#include <split-c/gather.h>

void handler(int source, am_word w)
{
}

int twice(int *x, int by)
{
    return *x *= by;
}

void f(long n, unsigned u, unsigned long size, float x, double d, int *global g, long *numbers)
{
    int *all = 0;
    all_reduce_to_all_add(3000000000L);
    all_reduce_to_all_add(n);
    all_reduce_to_one_max(size);
    all_reduce_to_all_add(2.7);
    all_reduce_to_all_min(d);
    all_scan_add(x);
    all_scan_fadd(d);
    all_reduce_to_all_uadd(size);
    all_reduce_to_all_umax(-1);
    all_reduce_to_all_add(4000000000u);
    all_bcast(n);
    all_bcast_i(d);
    all_bcast_u(n + 1L);
    all_reduce_to_all_ladd(d);
    fetch_add(g, n);
    all_gather_i(all, n);
    all_gather_i(numbers, n);
    bulk_read(all, g, 8 * d);
    am_request_1(0, handler, 0.5);
    atomic(twice, g, n);
    splitc_exit(n);
}
