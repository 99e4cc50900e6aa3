#include <split-c/split-c.h>

int A[4]::[3];

int splitc_main(void)
{
    int i = 3;
    A[2][i] = 1;
    barrier();
    return 0;
}
