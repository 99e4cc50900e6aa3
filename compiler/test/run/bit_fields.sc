#include <split-c/split-c.h>
#include "../check.h"

struct fields {
    int head;
    unsigned a : 3, b : 9;
    signed c : 5;
    unsigned : 0;
    unsigned long wide : 40;
    _Bool yes : 1;
    struct {
        unsigned char inner : 4, other : 4;
    } nested;
    union {
        unsigned u : 6;
        int whole;
    };
} object;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS;
    struct fields *global g = toglobal(next, &object);

    object = (struct fields){.head = 1, .a = 5, .b = 300, .c = -3, .wide = 1UL << 39};
    barrier();
    EXPECT(g->a + g->b + g->c, 5 + 300 - 3);
    EXPECT(g->wide >> 39, 1);
    EXPECT(g->b = 511, 511);
    EXPECT(g->b += 2, 1);
    EXPECT(g->a++, 5);
    EXPECT(++g->a, 7);
    EXPECT(++g->a, 0);
    EXPECT(g->c -= 13, -16);
    EXPECT(g->c--, -16);
    EXPECT(g->c, 15);
    EXPECT(g->a = 9, 1);
    EXPECT((g->wide = ~0UL) == (1UL << 40) - 1, 1);
    g->yes = 8;
    g->nested.inner = 6;
    (*g).nested.other |= 9;
    g->nested.other ^= 1;
    g->u = 33;
    g->a <<= 1;
    barrier();
    EXPECT(object.head, 1);
    EXPECT(object.a, 2);
    EXPECT(object.b, 1);
    EXPECT(object.c, 15);
    EXPECT(object.yes, 1);
    EXPECT(object.nested.inner + 16 * object.nested.other, 6 + 16 * 8);
    EXPECT(object.u, 33);
    return failures;
}
