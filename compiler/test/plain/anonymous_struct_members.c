// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
union value { struct { int a, b; }; struct { char c[8]; union { long l; double d; }; }; };
struct outer { int x; union value; struct inner { int y; } named; };
int main(void)
{
    union value v = {{1, 2}};
    union value w = {.l = 0, .a = 7};
    printf("%d %d %d\n", v.a, v.b, w.a);
    return sizeof(struct outer);
}
