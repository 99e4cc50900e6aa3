// ranks: 3
#include <split-c/split-c.h>

int value;

int splitc_main(void)
{
    int *global p = toglobal(PROCS, &value);
    return *p;
    barrier();
    return 0;
}
