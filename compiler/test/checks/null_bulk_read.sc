#include <split-c/split-c.h>

int *global p;

int splitc_main(void)
{
    int x[10];
    bulk_read(x, p, sizeof x);
    barrier();
    return 0;
}
