// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int cells[4];

int splitc_main(void)
{
    int *global g = toglobal(MYPROC, cells), n = 2, v;

    v = n ? n :-1;
    EXPECT(v, 2);
    n > 1 ? (*g :- 4) : (g[1] :- 5);
    store_sync(sizeof(int));
    EXPECT(cells[0], 4);
    v = n ? ({ *g :- 6; store_sync(sizeof(int)); n; }) :-3;
    EXPECT(cells[0] + v, 8);
    *(n ? g + 1 : g) :- n ? -n :-1;
    store_sync(sizeof(int));
    EXPECT(cells[1], -2);
    g[n ? 2 :-1] :- 9;
    store_sync(sizeof(int));
    EXPECT(cells[2], 9);
    v = n?:-1;
    EXPECT(v, 2);
    v = _Generic(n, int:-4, default:-5);
    EXPECT(v, -4);
    for (; n ? n-- > 1 :-1;)
        *g :-n;
    store_sync(sizeof(int));
    EXPECT(cells[0], -1 + 2);
    return failures;
}
