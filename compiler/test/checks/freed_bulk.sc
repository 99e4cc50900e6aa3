#include <split-c/split-c.h>

int splitc_main(void)
{
    char *spread p = all_spread_malloc(PROCS, 100), x[100];
    all_spread_free(p);
    bulk_get(x, p, 100);
    sync();
    barrier();
    return 0;
}
