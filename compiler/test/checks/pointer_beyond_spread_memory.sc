#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spread_malloc(2 * PROCS, sizeof(int));
    return p[2 * PROCS];
    barrier();
    return 0;
}
