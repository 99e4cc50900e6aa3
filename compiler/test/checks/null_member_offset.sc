#include <split-c/split-c.h>

struct pair {
    int a[100], b;
};
struct pair *global p;

int splitc_main(void)
{
    p->b = 3;
    barrier();
    return 0;
}
