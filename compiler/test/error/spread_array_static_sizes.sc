// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

enum { Some = 3 };
struct pair {
    int a, b;
} pair;
const int fixed = 4;
int n, many(int);
extern int others;

int A[PROCS]::[fixed], B[2 * PROCS + Some]::, C[fixed][PROCS > 2 ? 2 : 1]::[sizeof pair];
int D[1 << __builtin_ctz(fixed)]::, E[(int)(PROCS / 2.0 + 1)]::[sizeof n];
int F[n]::;
int G[PROCS * others]::;
int H[PROCS]::[n + 1];
static int I[many(2)]::;
int J[pair.a]::;
extern int K[n]::;
int L[({ 4; })]::;
int M[PROCS]::[2][n];

void f(int size, int parameter[n]::[size])
{
    static int O[n]::, P[PROCS]::[fixed];
    static int Q[size]::;
    static int R[many(PROCS)]::;
    static const int here = 3;
    static int S[here]::;
    int T[n]::[size];
    P[0][0] = T[0][0] = parameter[0][0];
}
