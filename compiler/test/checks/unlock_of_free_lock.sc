#include <split-c/split-c.h>

int lock;

int splitc_main(void)
{
    splitc_unlock(toglobal(0, &lock));
    barrier();
    return 0;
}
