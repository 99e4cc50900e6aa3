#include <split-c/split-c.h>

static int change(int *p, int by)
{
    return *p -= by;
}

int elsewhere(int *p, int by)
{
    return *p *= by;
}

int changed_elsewhere(int *global g, int by)
{
    return atomic(change, g, by);
}
