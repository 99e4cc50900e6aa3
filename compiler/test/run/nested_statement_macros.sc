// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int cells[8];

#define BEGIN do {
#define END } while (0)
#define SWAP(T, a, b) BEGIN T swap_ = (a); (a) = (b); (b) = swap_; END
#define GET_ALL(to, from, n) BEGIN int k_; for (k_ = 0; k_ < (n); k_++) (to)[k_] := (from)[k_]; sync(); END
#define MAX(a, b) ({ __typeof__((a) + 0) a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })
#define UPDATE(g, e) (*(g) = (e), *(g))
#define IF_ELSE(c, a, b) if (c) { a; } else { b; }
#define FOR(i, n) for (int i = 0, n_##i = (n); i < n_##i; i++)
#define NAMED(prefix, field) prefix##_##field
#define WITH(T, name, value) for (T name = (value), *once_ = (T *)1; once_; once_ = 0)

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, cells), *global h = toglobal(0, cells + 4), got[4];
    int NAMED(my, x) = 3;

    FOR(i, 8)
        cells[i] = 10 * i + MYPROC;
    barrier();
    GET_ALL(got, g + 1, 4);
    EXPECT(got[3] + got[0], 50 + 2 * (PROCS - 1));
    EXPECT(MAX(*g, *h), 40);
    EXPECT(MAX(MAX(g[1], g[2]), MAX(*g, got[1])), 19 + PROCS);
    barrier();
    on_one IF_ELSE(*h, SWAP(int, *h, h[1]), SWAP(int *global, g, h))
    barrier();
    EXPECT(*h * 100 + h[1], 5040);
    barrier();
    on_proc(PROCS - 1)
        EXPECT(UPDATE(h, UPDATE(g, 5) + my_x), 8);
    barrier();
    EXPECT(*g + *h, 13);
    if (PROCS)
        SWAP(int *global, g, h);
    else
        failures = 1;
    WITH(int, v, *g + *h)
        EXPECT(v, 13);
    barrier();
    return failures;
}
