#include <split-c/split-c.h>

int *global p;

int splitc_main(void)
{
    fetch_add(p, 1);
    barrier();
    return 0;
}
