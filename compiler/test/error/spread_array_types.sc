// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int A[PROCS]::[3], B[2][PROCS]::;
__typeof__(A) C;

int f(int n, int X[n]::[3])
{
    __typeof__((A)) D;
    typeof(B[1]) E;
    __typeof__(A[0]) block = {1, 2, 3};
    __typeof__(*A) same = {1};
    __typeof__(X) p = X, q = A;
    __typeof__(int [3]::) F;
    return sizeof(int [3]::) + sizeof(int [PROCS]::[3]) + sizeof A + _Alignof(int [3]::) +
           sizeof(__typeof__(A)) + ((int [3]::)X)[0] + block[0] + same[0] + p[0][0] + q[0][1];
}
