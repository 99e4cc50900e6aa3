// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int A[4]::;
int A[4000]::;
static double X[2][3]::[5];
static double X[3][2]::[5];
extern int B[4]::[2];
extern int B[]::[2];
int B[4]::[2];
extern double Y[PROCS]::;
double Y[PROCS]::;
int f(int Z[4]::[2]);
int f(int Z[5]::[2])
{
    return Z[0][0];
}
int g(int Z[4][2]::);
int g(int Z[4][3]::);
