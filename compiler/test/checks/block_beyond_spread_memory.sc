#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spread_malloc(PROCS, 5 * sizeof(int));
    int x[6];
    bulk_read(x, p, sizeof x);
    barrier();
    return 0;
}
