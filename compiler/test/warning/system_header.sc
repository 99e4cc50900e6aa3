#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <split-c/split-c.h>

int splitc_main(void)
{
    return printf("%d\n", PROCS) < 0;
}
