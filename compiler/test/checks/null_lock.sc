#include <split-c/split-c.h>

int *global lock;

int splitc_main(void)
{
    splitc_lock(lock);
    barrier();
    return 0;
}
