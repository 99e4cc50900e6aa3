#include <split-c/split-c.h>
#include "../check.h"

int splitc_main(void)
{
    int triangle = PROCS * (PROCS - 1) / 2;

    EXPECT(all_reduce_to_all_add(MYPROC), triangle);
    EXPECT(all_reduce_to_all_max(MYPROC), PROCS - 1);
    EXPECT(all_reduce_to_all_min(-MYPROC), 1 - PROCS);
    EXPECT(2 * all_reduce_to_all_dadd(MYPROC / 2.0), triangle);
    EXPECT(2 * all_reduce_to_all_dmax(MYPROC / 2.0), PROCS - 1);
    EXPECT(2 * all_reduce_to_all_dmin(MYPROC / -2.0), 1 - PROCS);
    if (all_reduce_to_one_add(1) != PROCS && MYPROC == 0)
        failures = 1;
    EXPECT(all_scan_add(MYPROC), MYPROC * (MYPROC + 1) / 2);
    EXPECT(all_bcast(MYPROC + 7), 7);
    EXPECT(4 * all_bcast_d(MYPROC + 0.25), 1);
    EXPECT(get_seconds() > 0, 1);
    return failures;
}
