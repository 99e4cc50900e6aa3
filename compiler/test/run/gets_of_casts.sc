// ranks: 1 2 4
//
// Old programs cast what they get, by which the get is of the object itself where that has the same
// bytes, and completes at once elsewhere.
#include <split-c/split-c.h>
#include "../check.h"

struct node {
    void *global link;
    int key;
    unsigned low : 3;
    long word;
    int *local;
    double real;
};

struct node there;
int *global word_of_mine;

int splitc_main(void)
{
    struct node *global g = toglobal(PROCS - 1, &there), *global h = g, *global *slot = &h;
    struct node *local;
    int x = 0, *p;
    unsigned u = 0;
    short narrow = 0;
    long l = 0;
    double d = 0;
    register int r;
    struct {
        char c;
        struct node *global h;
    } holds[2] = {{1, 0}, {2, 0}};

    there.link = toglobal(MYPROC, &there);
    there.key = -70 - MYPROC;
    there.low = 5;
    there.word = 0x1234567890;
    there.local = &x;
    there.real = 2.75;
    word_of_mine = toglobal(MYPROC, &there.key);
    barrier();
    h := (struct node *global)g->link;
    *slot := (struct node *global)g->link;
    holds[1].h := ((struct node *global)(g->link));
    sync();
    EXPECT(h == g, 1);
    EXPECT(holds[1].h == g, 1);
    EXPECT(holds[0].h == NULL, 1);
    EXPECT(holds[1].c, 2);
    x := (int)g->key;
    u := (unsigned)g->key;
    sync();
    EXPECT(x, -69 - PROCS);
    EXPECT(u, (unsigned)(-69 - PROCS));
    x := (int)(unsigned)g->key;
    p := (int *)g->local;
    l := (long)g->link;
    sync();
    EXPECT(x, -69 - PROCS);
    EXPECT(p == &x || PROCS > 1, 1);
    EXPECT((struct node *global)l == g, 1);

    // These convert.
    x := (int)g->real;
    d := (double)g->key;
    narrow := (short)g->word;
    l := (unsigned char)g->key;
    r := (int)g->key;
    u := (unsigned)g->low;
    local := (struct node *)g->link;
    sync();
    EXPECT(x, 2);
    EXPECT(d == -69 - PROCS, 1);
    EXPECT(narrow, 0x7890);
    EXPECT(l, (unsigned char)(-69 - PROCS));
    EXPECT(r, -69 - PROCS);
    EXPECT(u, 5);
    EXPECT(local == &there, 1);
    barrier();
    return failures;
}
