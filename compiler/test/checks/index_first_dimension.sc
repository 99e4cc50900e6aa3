#include <split-c/split-c.h>

int A[4][5]::;

int splitc_main(void)
{
    int i = 4;
    A[i][0] = 1;
    barrier();
    return 0;
}
