// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

asm(".globl at_top\n.set at_top, 42");
extern char at_top[];
register unsigned long sp asm("rsp");
int renamed(int) asm("other_name");
int renamed(int x) { return x + 1; }
static long add(long a, long b)
{
    long r;
    __asm__ __volatile__("lea (%[x],%[y]), %[r]" : [r] "=r"(r) : [x] "r"(a), [y] "r"(b) : "cc", "memory");
    return r;
}
static int jumps(int x)
{
    asm goto("test %0, %0\n\tjz %l[zero]" : : "r"(x) : "cc" : zero);
    return 1;
zero:
    return 0;
}
int main(void)
{
    int n = 1, m;
    register int in asm("ecx") = 4;
    asm("mov %1, %0" : "=r"(m) : "r"(in));
    asm inline("incl %0" : "+m"(n));
    asm volatile("" : : : "memory");
    asm("": "=a"(n): "0"(n));
    { long a[2] = {5, 6}; asm("movq %1, %0" : "=r"(a[0]) : "m"(*(long (*)[2])a)); n += a[0]; }
    printf("%ld %d %d %d %d\n", add(40, 2), jumps(0), jumps(3), m, n);
    return (int)(long)at_top + renamed(1) + (sp == 0);
}
