#include <split-c/split-c.h>
int A[PROCS]:;
double B[2][PROCS]:, C[PROCS]::;
int D[PROCS]: = 0;
int f(int n, int E[2]:);
struct bits {
    int b : 4;
};
