#include <split-c/split-c.h>
static int handler(int *p, int k) { return *p += k; }
int splitc_main(void)
{
    int x = 5, total = 0;
    totla1 = 3;
    totla2 = 4;
    atomic(handlr, toglobal(0, &x), 1);
    atomic(foo, toglobal(0, &x), 1);
    MYPROCS + 1;
    x = NPROCS;
    return x;
}
