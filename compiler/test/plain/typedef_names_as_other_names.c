// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

typedef int T;
typedef unsigned U;
struct fields { unsigned T : 3; const U : 5; U T2 : 4; T U; };
static int takes_function(int(T));
static int one(T t) { return t + 1; }
static int takes_function(int f(T)) { return f(1); }
static int parameter(int T) { return sizeof(T) + T; }
static int old(n, t) U n; T t; { return t * n; }
static T (T_of)(U) { return 7; }
enum { E = sizeof(T) };

int main(void)
{
    struct fields s = {.T = 5, .T2 = 9, .U = 3};
    int x = 4;
    printf("%d %d %d\n", s.T, s.T2, s.U);
    printf("%d %d %d\n", (T)-1, (x)-1, (int)sizeof(T) - 1);
    printf("%d %d %d\n", takes_function(one), parameter(2), old(3, 4u));
    { T T = 3; T++; x = T; }
    { unsigned T; T = 9; x += T; }
    { T *T = &x; *T += 1; }
    { T(y) = 2; T(*z) = &y; x += y + *z; }
    { struct T { int T; } T; T.T = 6; x += sizeof(struct T) + T.T; }
    for (T U = 0, T = 2; U < T; U++) x++;
    if (x > 0) goto T;
    x = 0;
T: ;
    return T_of(0) + x + E;
}
