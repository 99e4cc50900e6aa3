// ranks: 1
#include <split-c/split-c.h>

char from[100], to[100];

int splitc_main(void)
{
    bulk_write(toglobal(PROCS + 5, to), from, 100);
    barrier();
    return 0;
}
