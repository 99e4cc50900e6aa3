// SPDX-License-Identifier: BSD-3-Clause
//
// A parameter that is declared as a spread array is a spread pointer, and may be declared so, too.
// The last member of a struct needs no semicolon in GNU C.
#include <split-c/split-c.h>
#include "../check.h"

struct last { int v; struct last *global next };
struct several { int v; int *global p, *q };

int block_sum(int A[]::[3]);
int block_sum(int (*spread A)[3])
{
    return A[0][1] + A[1][2];
}

int second(int n, int *spread);
int second(int n, int A[n]::)
{
    return A[1];
}

int B[2]::[3], S[2]::;

int splitc_main(void)
{
    struct last l = {1, NULL};
    struct several s = {2, NULL, &l.v};

    B[0][1] = 7, B[1][2] = 8, S[1] = 9;
    barrier();
    EXPECT(block_sum(B), 15);
    EXPECT(second(2, S), 9);
    EXPECT(*s.q + s.v, 3);
    return failures;
}
