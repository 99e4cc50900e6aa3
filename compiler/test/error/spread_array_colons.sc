#include <split-c/split-c.h>
int A[PROCS];
int B[8]:[4];
double C[4][PROCS * 2];
void f(int *global g)
{
    int x, i;
    *g -: 3;
    on_proc x = 1;
    for_my_1D(i, 3)
        x = 1;
}
