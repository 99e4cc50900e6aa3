#include <split-c/split-c.h>

int A[4][5]::;

int splitc_main(void)
{
    int i = 5;
    A[0][i] = 1;
    barrier();
    return 0;
}
