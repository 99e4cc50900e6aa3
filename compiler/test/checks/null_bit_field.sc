#include <split-c/split-c.h>

struct bits {
    unsigned a : 3, b : 4;
};
struct bits *global p;

int splitc_main(void)
{
    p->b = 2;
    barrier();
    return 0;
}
