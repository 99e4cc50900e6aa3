// ranks: 3
#include <split-c/split-c.h>

int splitc_main(void)
{
    int *global p = toglobal(PROCS - 1, (int *)0x123456789000);
    on_one *p = 3;
    barrier();
    return 0;
}
