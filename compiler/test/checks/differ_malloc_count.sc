// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    all_spread_malloc(10 + MYPROC, 8);
    barrier();
    return 0;
}
