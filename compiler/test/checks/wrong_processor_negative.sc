// ranks: 2
#include <split-c/split-c.h>

int value;

int splitc_main(void)
{
    int *global p = toglobal(MYPROC - PROCS, &value);
    *p := 1;
    barrier();
    return 0;
}
