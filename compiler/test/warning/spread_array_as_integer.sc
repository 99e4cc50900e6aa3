// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

long f(int n)
{
    int A[n]::[n];
    long size = sizeof A / sizeof(A[0]) + A;

    size = A;
    return (long)A + size;
}
