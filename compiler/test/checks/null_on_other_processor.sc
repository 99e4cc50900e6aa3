// ranks: 3
#include <split-c/split-c.h>

int splitc_main(void)
{
    int *global p = toglobal(PROCS - 1, (int *)0);

    on_one *p = 1;
    barrier();
    return 0;
}
