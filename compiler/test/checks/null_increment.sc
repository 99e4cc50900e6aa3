#include <split-c/split-c.h>

char *global p;

int splitc_main(void)
{
    (*p)++;
    barrier();
    return 0;
}
