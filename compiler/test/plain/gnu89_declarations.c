// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <stdio.h>

static a, *b = &a;
register_it(x, auto_y) { return x + auto_y; }
extern c;
c = 4;
const d = 5;
unsigned *e(), (*f)(), g[3];
*h() { return &a; }
(*i)() = register_it;
static j(k, l) char *k; { return *k + l; }
volatile m, n;
struct { int x; } (o); 
double p(q, r, s) float q; char r; short s; { return q + r + s; }
int t(u) int u(); { return u(3, 4); }
int v(w) int w[]; { return w[1]; }
int x(y, z) struct { int q; } *y; register int (*z)(); { return y != 0; }
enum { A, B } bb() { return B; }

main(argc, argv) char *argv[];
{
    auto aa = 2;
    register cc = 3;
    static dd;
    extern e2();
    const ee = 1;
    int arr[2];
    arr[1] = 8;
    a = 7;
    if (aa == 2) { ff: aa++; }
    printf("%d %d %d %d %d\n", *b, register_it(1, 2), c, d, *h());
    printf("%d %d %g %d %d %d\n", i(3, 4), j("a", 1), p(1.5, 'a', 2), t(register_it), v(arr), x(0, 0));
    undeclared(aa, cc + dd);
    return e2() + ee + bb() + sizeof g;
}
undeclared(x, y) { printf("%d\n", x * 10 + y); }
e2() { return 40; }
