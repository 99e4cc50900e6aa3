#include <split-c/split-c.h>

double *global p;

int splitc_main(void)
{
    *p := 1.5;
    sync();
    barrier();
    return 0;
}
