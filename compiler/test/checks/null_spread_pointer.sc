#include <split-c/split-c.h>

int *spread p;

int splitc_main(void)
{
    return p[2];
    barrier();
    return 0;
}
