// ranks: 2 3
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC == 0)
        all_store_sync();
    else
        barrier();
    barrier();
    return 0;
}
