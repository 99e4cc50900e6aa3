#include <split-c/split-c.h>

int A[4]::[3][7];

int splitc_main(void)
{
    int i = 7;
    return A[2][1][i];
    barrier();
    return 0;
}
