// ranks: 3
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC == 0)
        all_scan_add(1);
    else
        all_scan_dadd(1);
    barrier();
    return 0;
}
