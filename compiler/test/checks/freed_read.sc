#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spread_malloc(PROCS, 8);
    all_spread_free(p);
    return *p;
    barrier();
    return 0;
}
