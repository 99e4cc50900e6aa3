#include <split-c/split-c.h>
#include "../check.h"

struct tree {
    struct {
        union {
            struct {
                int x, y;
            };
            long xy;
        };
        int grid[2][3];
    } a;
    struct tree *global up;
    int *global links[2];
} tree;

int value;

int splitc_main(void)
{
    struct tree *global g = toglobal(PROCS - 1, &tree);

    value = 60 + MYPROC;
    tree.a.x = MYPROC;
    tree.a.y = -1;
    tree.a.grid[1][2] = 12;
    tree.up = toglobal(0, &tree);
    tree.links[1] = toglobal(MYPROC, &value);
    barrier();
    EXPECT(g->a.x, PROCS - 1);
    EXPECT((*g).a.y, -1);
    EXPECT((int)(g->a.xy >> 32), -1);
    EXPECT(g->a.grid[1][2], 12);
    EXPECT(*(g->a.grid[1] + 2), 12);
    EXPECT(*(*(g->a.grid + 1) + 2), 12);
    EXPECT((&g->a)->grid[1][2], 12);
    EXPECT(g->up->a.x, 0);
    EXPECT(*g->links[1], 59 + PROCS);
    EXPECT(*g->up->links[1], 60);
    EXPECT((char *)tolocal(&g->links[1]) - (char *)&tree, (char *)&tree.links[1] - (char *)&tree);
    EXPECT(toproc(&g->a.grid[1]), PROCS - 1);
    int(*global row)[3] = g->a.grid;
    EXPECT(row[1][2], 12);
    barrier();
    return failures;
}
