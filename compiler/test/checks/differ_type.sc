// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC)
        all_bcast_d(1);
    else
        all_bcast_i(1);
    barrier();
    return 0;
}
