// SPDX-License-Identifier: BSD-3-Clause
#include <limits.h>
#include <split-c/split-c.h>
#include <split-c/gather.h>
#include "../check.h"

int splitc_main(void)
{
    int p = MYPROC, last = PROCS - 1;
    long far = 3000000000L + p, all[PROCS];
    unsigned long highest = ULONG_MAX - last + p;
    float halves[PROCS];

    EXPECT(all_reduce_to_all_ladd(3000000000L), 3000000000L * PROCS);
    EXPECT(all_reduce_to_all_lmax(-far), -3000000000L);
    EXPECT(all_reduce_to_one_lmin(far), p ? 0 : 3000000000L);
    EXPECT(all_scan_ladd(LONG_MIN / 4 / PROCS), LONG_MIN / 4 / PROCS * (p + 1));
    EXPECT(all_reduce_to_all_uadd(4000000000u), 4000000000u * (unsigned)PROCS);
    EXPECT(all_reduce_to_all_umin(4000000000u + p), 4000000000u);
    EXPECT(all_scan_umax(4000000000u + p), 4000000000u + p);
    EXPECT(all_reduce_to_all_ulmax(p ? highest : 1) == (PROCS > 1 ? ULONG_MAX : 1), 1);
    EXPECT(all_reduce_to_all_ulmin(highest) == ULONG_MAX - last, 1);
    EXPECT(all_reduce_to_one_uladd(highest) == (p ? 0 : -(unsigned long)(PROCS * (last + 2) / 2)), 1);
    EXPECT(all_reduce_to_all_fadd(0.25f) == PROCS / 4.0f, 1);
    EXPECT(all_reduce_to_all_fmax(p / 2.0f) == last / 2.0f, 1);
    EXPECT(all_reduce_to_one_fmin(-p / 2.0f) == (p ? 0 : last / -2.0f), 1);
    EXPECT(all_scan_fadd(0.5f) == (p + 1) / 2.0f, 1);

    EXPECT(all_bcast_l(far), 3000000000L);
    EXPECT(all_bcast_u(4000000000u + p), 4000000000u);
    EXPECT(all_bcast_ul(highest) == ULONG_MAX - last, 1);
    EXPECT(all_bcast_f(0.1f + p) == 0.1f, 1);

    all_gather_l(all, far);
    all_gather_f(halves, p / 2.0f);
    for (int r = 0; r < PROCS; r++) {
        EXPECT(all[r], 3000000000L + r);
        EXPECT(halves[r] == r / 2.0f, 1);
    }
    return failures;
}
