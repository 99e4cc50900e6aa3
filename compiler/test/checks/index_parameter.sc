#include <split-c/split-c.h>

static int at(int n, int A[n]::, int i)
{
    return A[i];
}

int splitc_main(void)
{
    int A[8]::;
    return at(8, A, 9);
    barrier();
    return 0;
}
