#include <split-c/split-c.h>

int *global p;

int splitc_main(void)
{
    int x = *p;
    return x;
    barrier();
    return 0;
}
