#include <split-c/split-c.h>
#include "../check.h"

#define STORE(p, v) *(p) :- (v)
#define STORE_IF(c, p, v) do { if (c) *(p) :-(v); else *(p) :- -(v); } while (0)
#define MINUS(c, a, b) ((c) ? (a) :-(b))

int cells[4];

int splitc_main(void)
{
    int *global g = toglobal((MYPROC + 1) % PROCS, cells);
    int a = 1, b = 2;

    STORE(g, a + b);
    STORE_IF(1, g + 1, 4);
    STORE_IF(0, g + 2, 4);
    *(a ? g + 3 : g) :- a ? b :-1;
    all_store_sync();
    EXPECT(cells[0], 3);
    EXPECT(cells[1], 4);
    EXPECT(cells[2], -4);
    EXPECT(cells[3], 2);
    EXPECT(MINUS(0, a, b), -2);
    EXPECT(a ? b :-1, 2);
    EXPECT(!a ? b :-1, -1);
    EXPECT(!a?b:-b, -2);
    EXPECT(a ? !b ? 1 :-2 :-3, -2);
    return failures;
}
