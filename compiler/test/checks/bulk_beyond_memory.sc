#include <split-c/split-c.h>
#include <stdlib.h>

int small;

int splitc_main(void)
{
    char *large = malloc(1);
    bulk_read(large, toglobal(PROCS - 1, &small), 1L << 30);
    barrier();
    return 0;
}
