// ranks: 3
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC == PROCS - 1)
        all_reduce_to_all_add(1);
    else
        barrier();
    barrier();
    return 0;
}
