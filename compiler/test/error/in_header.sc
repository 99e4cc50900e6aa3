#include "in_header.h"

int f(int *global g)
{
    return broken(g) + g * 3;
}
