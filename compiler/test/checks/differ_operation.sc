// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC)
        all_reduce_to_all_max(1);
    else
        all_reduce_to_all_add(1);
    barrier();
    return 0;
}
