#include <split-c/split-c.h>

double *global p;

int splitc_main(void)
{
    double x;
    x := *p;
    sync();
    barrier();
    return 0;
}
