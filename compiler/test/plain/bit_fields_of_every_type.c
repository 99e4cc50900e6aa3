// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

typedef unsigned long ul;
enum color { RED, GREEN, BLUE };
struct b { signed s : 4; unsigned u : 4; int plain : 5; long l : 40; _Bool yes : 1; enum color c : 2; ul : 0; ul t : 60; char ch : 7; const short k : 3; };
union ub { unsigned bits : 9; unsigned char low; };
int main(void)
{
    struct b b = {.s = -8, .u = 15, .plain = -1, .l = 1L << 38, .yes = 5, .c = BLUE, .t = ~0ul, .ch = 3, .k = 2};
    union ub v = {.bits = 511};
    b.s--; b.u++; b.l <<= 1; b.t += 2; b.ch *= 5; b.yes ^= 1;
    printf("%d %d %d %ld %d %d %lu %d %d\n", b.s, b.u, b.plain, (long)b.l, b.yes, b.c, (ul)b.t, b.ch, b.k);
    printf("%zu %d %d\n", sizeof b, v.low, _Generic(b.u + 0, unsigned: 1, int: 2));
    return b.u - 1 < 0 ? 3 : 4;
}
