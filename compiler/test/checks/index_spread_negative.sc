#include <split-c/split-c.h>

int A[10]::;

int splitc_main(void)
{
    int i = -1;
    A[i] = 1;
    barrier();
    return 0;
}
