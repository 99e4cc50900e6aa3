#include <split-c/split-c.h>
#include "../check.h"

struct fixed {
    const int id;
    const char name[4];
    volatile int n;
} fixed = {3, "abc", 5};
const struct fixed table[2] = {{1, "x", 2}, {2, "y", 3}};

int splitc_main(void)
{
    struct fixed *global g = toglobal(PROCS - 1, &fixed);
    const struct fixed *global t = toglobal(PROCS - 1, table);
    const int(*global row)[2] = (const int(*global)[2])&t[1].id;
    struct fixed copy = *g;

    barrier();
    EXPECT(copy.id + g->id, 6);
    EXPECT(g->name[1], 'b');
    EXPECT((*g).n, 5);
    EXPECT(t[1].n + t->id, 4);
    EXPECT((*row)[0], 2);
    barrier();
    on_one {
        g->n += 2;
        g->n++;
    }
    barrier();
    EXPECT(g->n, 8);
    return failures;
}
