#include <split-c/split-c.h>

int A[4]::[3];

int splitc_main(void)
{
    int (*spread p)[3] = A;
    int i = 3;
    return (*p)[i];
    barrier();
    return 0;
}
