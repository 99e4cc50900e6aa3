#include <split-c/split-c.h>
#include <stdio.h>

void f(double *spread s)
{
    double d;
    d := s[3];
    printf("%g\n", d);
}
