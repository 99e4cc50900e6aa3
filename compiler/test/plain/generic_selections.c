// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu11
#include <stdio.h>
#define T(x) _Generic((x), char: "char", signed char: "schar", short: "short", int: "int", long: "long", float: "float", \
    double: "double", char *: "char*", const char *: "cchar*", void *: "void*", int *: "int*", const int *: "cint*", \
    int (*)(void): "fn", struct s: "s", struct s *: "s*", int (*)[3]: "row", _Bool: "bool", unsigned: "unsigned", default: "?")
struct s { int a; short b : 3; };
enum e { EA = -1 };
static int fn(void) { return 0; }
int main(void)
{
    struct s s, *p = &s; int a[3]; const int ci = 0; char c = 0; enum e e = EA; _Bool b = 1;
    printf("%s %s %s %s %s\n", T(c), T(+c), T('c'), T((char)1), T((short)1 + (char)1));
    printf("%s %s %s %s %s\n", T(s), T(p), T(&p), T(a), T(&a));
    printf("%s %s %s %s %s\n", T(fn), T(&fn), T(ci), T(&ci), T("x"));
    printf("%s %s %s %s %s\n", T(e), T(b), T(!b), T(1 ? 1L : 2), T(1 ? 1.0f : 1));
    printf("%s %s %s %s\n", T((void *)0), T(1 ? p : (void *)0), T(1 ? a : (void *)p), T((0, a)));
    printf("%s %s %s\n", T(p->a), T(sizeof p), T(a - a));
    return _Generic(1, int: _Generic(1.0, double: 4, default: 5), default: 6);
}
