#include <split-c/split-c.h>

static void f(int *p)
{
    *p = 0;
}

int *global p;

int splitc_main(void)
{
    atomic(f, p);
    barrier();
    return 0;
}
