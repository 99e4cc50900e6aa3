// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

#pragma pack(push, 1)
struct tight { char c; long l; };
#pragma pack(pop)
#define DO_PRAGMA(x) _Pragma(#x)
#define QUIET(e) ({ _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wall\"") e; _Pragma("GCC diagnostic pop") })
#pragma GCC push_options
#pragma GCC optimize("O3")
static int fast(int n)
{
    int s = 0;
#pragma GCC unroll 4
    for (int i = 0; i < n; i++)
        s += i;
#pragma GCC ivdep
    for (int i = 0; i < n; i++)
        s += i;
    return s;
}
#pragma GCC pop_options
#pragma weak missing
extern int missing(void);
DO_PRAGMA(GCC poison poisoned_name)
int main(void)
{
    int x = 3;
    struct s {
#pragma pack(1)
        char c;
        int i;
#pragma pack()
    };
    if (x)
        QUIET(x++);
    return sizeof(struct tight) + fast(4) + x + sizeof(struct s) + (missing ? 1 : 0);
}
