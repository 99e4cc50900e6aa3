#include <split-c/split-c.h>
void f(void)
{
    barrier(1);
}
