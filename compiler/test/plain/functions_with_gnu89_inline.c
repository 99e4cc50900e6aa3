// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <stdio.h>

extern __inline__ int only_inline(int x) { return x + 1; }
int only_inline(int x) { return x + 1; }
inline int exported(int x) { return x + 2; }
static inline int local(x) { return x + 3; }
__inline static int swapped(int x) { return x + 4; }
extern inline later();
main()
{
    int restrict_ = 1;
    int restrict = 2; /* no keyword here */
    // a comment of C++, which gnu89 has
    long long big = 1LL << 40;
    printf("%d %d %d %d %d %lld\n", only_inline(1), exported(1), local(1), swapped(1), later(), big >> 38);
    return restrict + restrict_ - 3;
}
later() { return 9; }
