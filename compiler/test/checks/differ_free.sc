// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spread_malloc(PROCS, 8), *spread q = all_spread_malloc(PROCS, 8);
    all_spread_free(MYPROC ? p : q);
    barrier();
    return 0;
}
