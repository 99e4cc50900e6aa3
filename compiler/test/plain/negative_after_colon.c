// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

struct b { int a:3, :2, c:-1 + 5; };
static int g(int x) { return _Generic(x, int:-x, default:-1); }
static int tab[] = {[0]=1?2:-1, [1]=0?2:-1};
struct b init = { a:-1, c:-2 };
int main(void)
{
    int x = 3, y = x?:-1, z = 0?:-2, w;
    w = x > 2 ?-1:-2;
    for (; x ?x<9:-0; x++) ;
    switch (x) { case-1:-x; break; case 9:-y; case 10 ...12:-x; default:-z; }
    goto out; 
out:-x;
    printf("%d %d %d %d %d\n", x, y, z, w, g(4));
    printf("%d %d %d %d\n", tab[0], tab[1], init.a, init.c);
    printf("%d\n", x ? ({ x ? 5 :-5; }) :-6);
    printf("%d %d\n", (x ? y ? 1 :-1 : z ? 2 :-2), x ? (y, z) :-3);
    asm volatile("" : "+r"(x) :"r"(-1) :"memory");
    asm volatile("":::"memory");
    asm volatile("" ::"r"(x):"cc");
    { int a[x ? 2:-1]; w = sizeof a; }
    return x ? w:-w;
}
