#include <split-c/split-c.h>

int object;

int splitc_main(void)
{
    all_spread_free(tospread(0, &object));
    barrier();
    return 0;
}
