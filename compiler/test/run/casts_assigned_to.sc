// flags: -std=gnu89
#include <split-c/split-c.h>
#include "../check.h"

struct list { char *at; struct list *next; };

static int calls;

static struct list *counted(struct list *l)
{
    calls++;
    return l;
}

static double table[4];

splitc_main()
{
    int cells[4], *p = cells, n;
    register int *r = cells;
    long word = 0;
    struct list l, *q = &l;
    double *global g = toglobal(PROCS - 1, table);

    (char *)p += sizeof(int);
    EXPECT(p - cells, 1);
    EXPECT(((char *)p)++ == (char *)&cells[1], 1);
    EXPECT((char *)p - (char *)cells, sizeof(int) + 1);
    EXPECT(++(char *)p == (char *)cells + sizeof(int) + 2, 1);
    --(char *)p, (char *)p -= 1;
    EXPECT(p - cells, 1);
    ((char *)r) += 2 * sizeof(int);
    EXPECT(r - cells, 2);
    (char *)r = (char *)cells + 4;
    EXPECT(r - cells, 1);
    n = *((char *)p)++ = 7;
    EXPECT(n, 7);

    (char)word = 0x1ff; /* what fits into the type */
    EXPECT(word, -1);
    (unsigned char)word <<= 4;
    EXPECT(word, 0xf0);
    EXPECT((unsigned char)word += 0x20, 0x10);

    l.at = (char *)cells;
    (int *)counted(q)->at += 3;
    EXPECT(l.at - (char *)cells, 3 * sizeof(int));
    EXPECT(((int *)counted(q)->at)-- == cells + 3, 1);
    EXPECT(calls, 2);

    (char *global)g += 2 * sizeof(double);
    EXPECT(g - toglobal(PROCS - 1, table), 2);
    ((char *global)g)++;
    --(char *global)g;
    EXPECT(tolocal(g) - table, 2);
    return failures;
}
