#include <split-c/split-c.h>

int a, b;

int splitc_main(void)
{
    bulk_read(&a, toglobal(0, &b), -4);
    barrier();
    return 0;
}
