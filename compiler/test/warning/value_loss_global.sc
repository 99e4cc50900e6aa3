// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

double A[PROCS]::;

void f(long n, int i, double d, int *global g, float *global gf, unsigned *global gu,
       long *global gl, int *spread s, unsigned char *global gb, double *p)
{
    long wide = A[0];
    int part = *gl;
    float narrow = (A[1]);
    *g = n;
    *g = d;
    *g = p - &d;
    *gf = d;
    *gf = d * 2;
    *gu = -1;
    *g = 3000000000;
    *gb = -1;
    *gb = n;
    g[1] := n;
    *s :- d;
    i := *gl;
    i = *gl;
    i += A[1];
    *g += n;
    *g += 0.5;
    *g /= 2.0;
    *g *= d;
    *gf -= d;
    s[2] |= n;
    i = *g = n;
#pragma GCC diagnostic ignored "-Wvalue-loss"
    *g = n;
    (void)wide, (void)part, (void)narrow;
}
