#include <split-c/split-c.h>
int splitc_main(void)
{
    int x = 0;
    on_one() { x = 1; }
    on_one()
        x = 2;
    on_one (x = 3);
    return x;
}
