#include <split-c/split-c.h>
#include "../check.h"

struct inner {
    char name[5];
    short n;
};
struct outer {
    struct inner in[2];
    union {
        int i;
        float f;
    };
    struct {
        long deep;
    } named;
} object;

static struct outer make(int n)
{
    struct outer o = {{{"abc", 1}, {"de", n}}, {.i = n + 1}, {n + 2}};
    return o;
}

static int check(struct outer o, int n)
{
    return o.in[0].name[2] == 'c' && o.in[1].n == n && o.i == n + 1 && o.named.deep == n + 2;
}

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, before = (MYPROC + PROCS - 1) % PROCS;
    struct outer *global g = toglobal(next, &object), local;

    object = make(MYPROC);
    barrier();
    EXPECT(check(*g, next), 1);
    local = *g;
    EXPECT(check(local, next), 1);
    EXPECT((*g).in[1].n + (local = *g).i, 2 * next + 1);
    struct inner in = g->in[1];
    EXPECT(in.n, next);
    EXPECT(g->named.deep, next + 2);
    EXPECT(g->in[0].name[1], 'b');
    barrier();
    *g = make(50 + MYPROC);
    barrier();
    EXPECT(check(object, 50 + before), 1);
    barrier();
    g->in[0] = (struct inner){"xyc", 3};
    g->i = 8;
    (*g).named.deep = 9;
    g->in[1].name[0] = 'q';
    barrier();
    EXPECT(object.in[0].name[0] == 'x' && object.in[0].n == 3, 1);
    EXPECT(object.i, 8);
    EXPECT(object.named.deep, 9);
    EXPECT(object.in[1].name[0], 'q');
    EXPECT(object.in[1].name[1], 'e');
    return failures;
}
