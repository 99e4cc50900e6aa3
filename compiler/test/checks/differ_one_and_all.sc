// ranks: 2 4
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC == 0)
        all_reduce_to_one_add(1);
    else
        all_reduce_to_all_add(1);
    barrier();
    return 0;
}
