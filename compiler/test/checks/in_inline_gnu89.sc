// flags: -std=gnu89
#include <split-c/split-c.h>

static int *global p;

extern inline int get(int *global from)
{
    return *from;
}

int splitc_main(void)
{
    return get(p);
    barrier();
    return 0;
}
