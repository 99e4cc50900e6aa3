#include <split-c/split-c.h>

int *global kept;

static void keep(void)
{
    int A[PROCS]::; /* gone when this returns */

    kept = &A[0];
}

int splitc_main(void)
{
    keep();
    return *kept;
    barrier();
    return 0;
}
