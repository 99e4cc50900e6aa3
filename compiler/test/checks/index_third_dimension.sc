#include <split-c/split-c.h>

double A[2][3][4]::[2];

int splitc_main(void)
{
    int i = 4;
    A[1][2][i][0] = 1;
    barrier();
    return 0;
}
