#include <split-c/split-c.h>

short *global p;

int splitc_main(void)
{
    *p :- 3;
    barrier();
    return 0;
}
