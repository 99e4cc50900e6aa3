#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spread_malloc(PROCS, 8), *spread q;
    all_spread_free(p);
    q = all_spread_malloc(PROCS, 8);
    *q = 1;
    return *p;
    barrier();
    return 0;
}
