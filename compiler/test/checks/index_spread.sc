#include <split-c/split-c.h>

int A[10]::;

int splitc_main(void)
{
    int i = 10;
    return A[i];
    barrier();
    return 0;
}
