// SPDX-License-Identifier: BSD-3-Clause
#include <limits.h>
#include <math.h>
#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int p = MYPROC, last = p == PROCS - 1;

    EXPECT(all_reduce_to_all_max(last ? INT_MAX : INT_MIN), INT_MAX);
    EXPECT(all_reduce_to_all_min(last ? INT_MIN : INT_MAX), INT_MIN);
    EXPECT(all_reduce_to_all_dmax(last ? 1e300 : -INFINITY) == 1e300, 1);
    EXPECT(all_reduce_to_all_dmin(-1e-300 * p) == -1e-300 * (PROCS - 1), 1);
    EXPECT(all_reduce_to_one_max(-p) , 0);
    EXPECT(all_reduce_to_one_min(p), 0);
    EXPECT(all_reduce_to_one_dadd(0.5), p ? 0 : PROCS / 2.0);
    EXPECT(2 * all_reduce_to_one_dmax(p / 2.0), p ? 0 : PROCS - 1);
    EXPECT(2 * all_reduce_to_one_dmin(-p / 2.0), p ? 0 : 1 - PROCS);
    EXPECT(all_scan_max(-p), 0);
    EXPECT(all_scan_min(-p), -p);
    EXPECT(2 * all_scan_dadd(0.5), p + 1);
    EXPECT(all_scan_dmax(p), p);
    EXPECT(all_scan_dmin(p), 0);
    EXPECT(all_bcast_i(p ? 0 : INT_MIN), INT_MIN);
    EXPECT(all_bcast_d(p ? 0 : -0.0) == 0, 1);
    return failures;
}
