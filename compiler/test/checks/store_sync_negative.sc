#include <split-c/split-c.h>

int splitc_main(void)
{
    store_sync(-8);
    barrier();
    return 0;
}
