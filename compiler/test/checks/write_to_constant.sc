#include <split-c/split-c.h>

int splitc_main(void)
{
    char *global p = toglobal(0, "constant");
    *p = 3;
    barrier();
    return 0;
}
