#include <split-c/split-c.h>

int *global p;

int splitc_main(void)
{
    int x[10] = {0};
    bulk_store(p, x, sizeof x);
    barrier();
    return 0;
}
