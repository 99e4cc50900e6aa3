#include <split-c/split-c.h>

int splitc_main(void)
{
    int *global p = toglobal(0, (int *)0x123456789000);
    return *p;
    barrier();
    return 0;
}
