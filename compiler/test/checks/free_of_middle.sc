#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spread_malloc(4 * PROCS, 8);
    all_spread_free(p + PROCS);
    barrier();
    return 0;
}
