// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC)
        return 0;
    barrier();
    barrier();
    barrier();
    return 0;
}
