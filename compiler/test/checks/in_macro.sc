#include <split-c/split-c.h>

#define READ(p) (*(p))

int *global p;

int splitc_main(void)
{
    return READ(p);
    barrier();
    return 0;
}
