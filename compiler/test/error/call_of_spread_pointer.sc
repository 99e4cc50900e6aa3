// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int A[PROCS]::[2];

int f(int *spread s, int i)
{
    return s(i) + A(i)[1] + A[i](1);
}
