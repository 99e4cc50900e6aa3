// flags: -Wall
#include <split-c/split-c.h>

int A[4]::;

void f(int *global p, int *q)
{
    if (*p = 3)
        ;
    while (A[0] = *q)
        ;
    for (; p[1] = 0;)
        ;
    do {
    } while (*p = *q);
    if ((*p = 3) || A[1] == (A[2] = 1))
        ;
    if (*p += 3)
        ;
    while (*p := *q, 0)
        ;
}
