#include <split-c/split-c.h>
int splitc_main(void)
{
    if (MYPROC = 0)
        PROCS = 4;
    PROCSLOG++;
    MYPROC += 2;
    return 0;
}
