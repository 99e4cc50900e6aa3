#include <split-c/split-c.h>

int splitc_main(void)
{
    all_spread_malloc(PROCS, 1L << 42);
    barrier();
    return 0;
}
