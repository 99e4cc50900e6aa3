// ranks: 3
#include <split-c/split-c.h>

int splitc_main(void)
{
    int size = MYPROC ? 16 : 8;
    all_spread_malloc(PROCS, size);
    barrier();
    return 0;
}
