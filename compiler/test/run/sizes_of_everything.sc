// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

typedef struct { int *global g; char c; } item;
static item A[3][PROCS]::[2][5];

static int parameter(int n, int X[n]::[n][2])
{
    return sizeof X[0] + sizeof X[0][0] + sizeof X[0][0][0];
}

int splitc_main(void)
{
    int n = 3, calls = 0, X[n]::[n][2];
    item *global g = &A[0][0][0][0], *spread s = 0;
    double(*global row)[n] = 0;
    int *global table[n][2];

    EXPECT(sizeof(item), 16);
    EXPECT(sizeof A[0][0], 160);
    EXPECT(sizeof A[0][0][0] + sizeof A[0][0][0][0], 96);
    EXPECT(sizeof A / sizeof A[0][0], 3 * PROCS);
    EXPECT(parameter(n, X), 24 + 8 + 4);
    EXPECT(sizeof X, 3 * 24);
    EXPECT(sizeof g + sizeof *g + sizeof g->g + sizeof *g->g + sizeof g[1].c, 8 + 16 + 8 + 4 + 1);
    EXPECT(sizeof s + sizeof *s + sizeof s[2].g, 32);
    EXPECT(sizeof *row, 24);
    EXPECT(sizeof table + sizeof table[0], 48 + 16);
    EXPECT(sizeof(int *global[n]), 24);
    EXPECT(sizeof(*(calls++, g)), 16);
    EXPECT(sizeof(double(*spread)[calls + 1]), 8);
    EXPECT(calls, 0);
    EXPECT(_Alignof(item) + _Alignof(int *global), 16);
    EXPECT(sizeof(struct { char c; int *spread p[2]; }), 24);
    EXPECT(sizeof(1 ? g : 0) + sizeof(g + 1) + sizeof(g - g) + sizeof !g, 28);
    barrier();
    return failures;
}
