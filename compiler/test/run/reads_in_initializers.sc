// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

struct pair { int a; double b; };
static int cells[4];
static struct pair pair;

int splitc_main(void)
{
    for (int i = 0; i < 4; i++)
        cells[i] = 10 * MYPROC + i;
    pair = (struct pair){7, 0.5};
    barrier();
    int *global g = toglobal(PROCS - 1, cells), base = 10 * (PROCS - 1);
    struct pair *global p = toglobal(PROCS - 1, &pair);
    int x = *g, y = g[1] + x, list[] = {*g, g[1], [3] = g[2]}, grid[2][2] = {{g[3]}, {*g, *g}};
    struct pair one = *p, two = {p->a, p->b}, three = {.b = p->a, .a = *g}, four[] = {*p, {1}, *p};
    const struct pair *five = &(struct pair){g[1], p->b};
    int sized[p->a], (*rows)[p->a - 4] = (int(*)[p->a - 4])sized;
    double d = *g, e = p->b * 2;
    char text[] = {p->a + '0', 0};

    EXPECT(x, base);
    EXPECT(y, 2 * base + 1);
    EXPECT(list[0] + list[1] + list[2] + list[3], 3 * base + 3);
    EXPECT(grid[0][0] + grid[0][1] + grid[1][1], 2 * base + 3);
    EXPECT(one.a + two.a + three.b + four[2].a, 28);
    EXPECT(2 * (one.b + two.b + four[0].b + five->b), 4);
    EXPECT(three.a + five->a, 2 * base + 1);
    EXPECT(sizeof sized + sizeof *rows, 40);
    EXPECT(d + e, base + 1);
    EXPECT(text[0], '7');
    barrier();
    return failures;
}
