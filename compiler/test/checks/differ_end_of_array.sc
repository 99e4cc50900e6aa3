// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (MYPROC == 0)
        barrier();
    else {
        int A[4]::;
        (void)A;
    }
    barrier();
    return 0;
}
