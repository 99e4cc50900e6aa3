// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static struct point { int x, y; } cell;

int splitc_main(void)
{
    struct point *global g = toglobal(PROCS - 1, (cell = (struct point){1, MYPROC}, &cell));
    barrier();
    int sum = ({ struct inner { int *global a; } i = {&g->y}; *i.a; });
    typedef struct { struct point *global at; int n; } cursor;
    cursor c = {g, 2}, *pc = &(cursor){.at = g};

    EXPECT(sum, PROCS - 1);
    EXPECT(((cursor){g, 5}).at->y + ((struct point){3, g->x}).y, PROCS);
    EXPECT(pc->at->y + c.at->x, PROCS);
    EXPECT((*(cursor[]){{g}, {g + 1}}).at == g, 1);
    for (struct { struct point *global p; int left; } w = {g, 2}; w.left; w.left--)
        sum += w.p->x;
    EXPECT(sum, PROCS + 1);
    EXPECT(_Generic(c.at, struct point *global: 1, struct point *: 2, default: 3), 1);
    EXPECT(((int *global)g)[1] + *(int *global)(void *global)g, PROCS);
    EXPECT((char)(short)*(unsigned char *global)&g->y, PROCS - 1);
    EXPECT((int *global(*)(int)) 0 == NULL, 1);
    EXPECT(__builtin_types_compatible_p(__typeof__(g->x), int), 1);
    barrier();
    return failures;
}
