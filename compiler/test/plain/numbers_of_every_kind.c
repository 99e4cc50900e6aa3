// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

#define SHOW(x) printf("%s: %s %zu %Lg\n", #x, _Generic((x), int: "int", unsigned: "unsigned", long: "long", \
    unsigned long: "unsigned long", long long: "long long", unsigned long long: "unsigned long long", \
    float: "float", double: "double", long double: "long double", default: "other"), sizeof(x), (long double)(x))

int main(void)
{
    SHOW(0); SHOW(017); SHOW(0xFFFFFFFF); SHOW(2147483648); SHOW(0x7fffffffffffffff); SHOW(0xffffffffffffffff);
    SHOW(1u); SHOW(1L); SHOW(1ul); SHOW(1LU); SHOW(1ll); SHOW(1llU); SHOW(0b1011); SHOW(0B11u);
    SHOW(1.); SHOW(.5); SHOW(1e3); SHOW(1.5f); SHOW(2.5L); SHOW(0x1p4); SHOW(0x1.8p-1f); SHOW(0x.8p1L); SHOW(1e+2); SHOW(1E-2F);
    SHOW('a'); SHOW('\377'); SHOW('\x41'); SHOW('ab'); SHOW('\0'); SHOW('\''); SHOW('"'); SHOW('\e'); SHOW('\?');
    SHOW(L'\x1234'); SHOW(u'x'); SHOW(U'\U0001F600');
    printf("%g %g\n", (double)1.5q, (double)2.5Q);
    return 0;
}
