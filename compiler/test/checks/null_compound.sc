#include <split-c/split-c.h>

long *global p;

int splitc_main(void)
{
    *p += 3;
    barrier();
    return 0;
}
