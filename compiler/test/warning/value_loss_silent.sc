// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <split-c/am.h>

struct bits {
    unsigned long wide : 20;
    int a;
} b;
enum kind { One, Two };
double A[PROCS]::;
int toupper(int c);
void handler(int source, am_word w)
{
}

// What keeps its value, or means to lose it.
void f(long n, unsigned u, int i, char c, float x, enum kind k, int *global g, float *global gf,
       char *global gc, unsigned *global gu, long *global gl, unsigned char *global gb,
       double _Complex *global gz, struct bits *global gs, int b, _Bool *global flag)
{
    all_reduce_to_all_add(2147483647L);
    all_reduce_to_all_add(2.0);
    all_reduce_to_all_add(-3.0);
    all_reduce_to_all_add((int)n);
    all_reduce_to_all_add(i * sizeof(int));
    all_reduce_to_all_add(sizeof(struct bits));
    all_reduce_to_all_add(u);
    all_reduce_to_all_add(n % 10);
    all_reduce_to_all_add(n & 0xffff);
    all_reduce_to_all_add(n > 3 ? i : c);
    all_reduce_to_all_add(!n);
    all_reduce_to_all_add(k);
    all_reduce_to_all_add(gs->wide);
    all_reduce_to_all_dadd(n);
    all_reduce_to_all_fadd(x * 0.1);
    all_reduce_to_all_ladd(u);
    all_bcast_ul(n);
    bulk_read(&i, g, sizeof i * n);
    am_request_1(0, handler, -1);
    *gc = c + 1;
    *gc += 1;
    *gc = c - 'a' + 'A';
    *gc = toupper(c);
    *gc = '\n';
    *gb = 0xff;
    *gb = ~0;
    *g = 0xffffffff;
    *g = u;
    *g = n >> 32;
    *g %= n;
    *g <<= n;
    *g += 1.0;
    *gf = 0.1;
    *gf = -1e10;
    *gf *= 0.5;
    *gf = x / 3.0;
    *gf = i;
    *gu = ~0;
    *gu |= 0x80000000;
    *gl = u;
    *gl = *g;
    *flag = n;
    A[0] = n;
    A[0] += x;
    i = A[0] * 2;
    i = (int)A[0];
    n = *g;
    n := *g;
    *gl := i;
    sync();
    *gl :- i;
    gs->a = gs->wide;
    *gz /= 4;
    *(_Bool *global)g = 0.5;
    *gb += -3;
    *gb -= 3;
    *gb ^= -1;
    *gb += 300;
    *gb = *gb + 300;
    *gb *= i;
}
