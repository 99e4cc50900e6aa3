#include <split-c/split-c.h>

int splitc_main(void)
{
    int A[6]::;
    int i = 6;
    barrier();
    A[i] := 3;
    sync();
    barrier();
    return 0;
}
