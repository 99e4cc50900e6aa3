#include <split-c/split-c.h>

int value;

int splitc_main(void)
{
    value = 100 + MYPROC;
    barrier();
    for (int p = 0; p < PROCS; p++)
        if (*toglobal(p, &value) != 100 + p)
            return 1;
    barrier();
    return 0;
}
