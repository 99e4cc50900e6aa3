#include <split-c/split-c.h>

int cell;

static void f(int *p)
{
    barrier();
}

int splitc_main(void)
{
    on_one atomic(f, toglobal(0, &cell));
    barrier();
    return 0;
}
