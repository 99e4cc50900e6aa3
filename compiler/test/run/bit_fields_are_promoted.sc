// SPDX-License-Identifier: BSD-3-Clause
//
// A bit-field that an int holds is an int in expressions, unsigned or not, near or far.
#include <split-c/split-c.h>
#include "../check.h"

struct bits { unsigned three : 3, all : 32; _Bool flag : 1; int five : 5; } bits = {6, 4000000000u, 0, -3};

int splitc_main(void)
{
    struct bits *global g = toglobal(0, &bits);

    EXPECT(g->three - 8 < 0, 1);
    EXPECT((*g).three > -1, 1);
    EXPECT((g->three = 7) - 8 < 0, 1);
    EXPECT(g->five, -3);
    EXPECT(g->all > 0, 1);
    barrier();
    on_one {
        g->flag = 5;
        g->three = 3;
        EXPECT(g->flag - 2 < 0, 1);
        EXPECT(g->three, 3);
        EXPECT(g->five, -3);
    }
    barrier();
    return failures;
}
