// SPDX-License-Identifier: BSD-3-Clause
int A[2.5]::;
int f(double d, int *p)
{
    int B[4]::[d], C[p]::;
    return B[0][0] + C[0];
}
