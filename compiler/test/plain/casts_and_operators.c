// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <stddef.h>

struct s { int a; } arr[4];
union u { int i; float f; };
static int f(int x) { return x; }
int main(void)
{
    int a = 5, b = 3, *p = &a; double d = 2.75; unsigned char c = 200; short h = -3;
    void *v = arr; ptrdiff_t n = &arr[3] - arr;
    printf("%d %d %d %d\n", a---b, a+++b, - -a, !~-1);
    printf("%d %d %d\n", (int)d, (char)c, (unsigned char)h);
    printf("%d %d %u\n", c << 1, h >> 1, (unsigned)h >> 28);
    printf("%td %d %d\n", n, 3[&a - 3], *&*&*p);
    printf("%d %d\n", sizeof a++ == 4, a);
    printf("%d %g\n", ((union u)1.0f).i, (double)((union u)0x40000000).f);
    printf("%d %d\n", (f)(2), (*&f)(3) + (**f)(4));
    printf("%zu %zu %zu\n", sizeof(void), sizeof f, sizeof *v);
    v += 4; v++; printf("%td\n", (char *)v - (char *)arr);
    printf("%d %d %d\n", a ?: 1, (a = 0) ?: 7, a, b);
    printf("%d %d\n", (a = b = 4, a += b -= 1), (a, b));
    printf("%d %d\n", a & b | a ^ b && a || b, a < b == b > a);
    printf("%d\n", (int){3} + (int){(char){2}} - (struct s){.a = 1}.a + ++(int){7});
    (a ? a : b), (void)(a, b), (void)0;
    *(a ? &a : &b) = 9; a <<= 1; a %= 4; a |= 8; a ^= 1; a &= ~2; a >>= 1;
    return a + -b + +b + (b >= 3) + (b != 3) + (_Bool)0.5;
}
