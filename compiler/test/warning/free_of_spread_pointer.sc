#include <split-c/split-c.h>
#include <stdlib.h>
void f(int *spread s)
{
    free(s);
}
