// ranks: 2
#include <split-c/split-c.h>

int splitc_main(void)
{
    int n = 10 + MYPROC;
    int A[n]::;
    A[0] = 1;
    barrier();
    return 0;
}
