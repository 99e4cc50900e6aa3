#include <split-c/split-c.h>
#include "../check.h"

struct link {
    struct link *global next;
    int key[3];
} link;

static struct link get(struct link *global p)
{
    return *p;
}

static struct link *global go(struct link *global p, int n)
{
    return n ? go(p->next, n - 1) : p;
}

int splitc_main(void)
{
    link.next = toglobal((MYPROC + 1) % PROCS, &link);
    link.key[2] = MYPROC;
    barrier();
    struct link *global me = toglobal(MYPROC, &link);
    EXPECT(get(me->next).key[2], (MYPROC + 1) % PROCS);
    EXPECT(get(me).next->key[2], (MYPROC + 1) % PROCS);
    EXPECT(get(get(me).next).next->key[2], (MYPROC + 2) % PROCS);
    EXPECT(go(me, 3)->key[2], (MYPROC + 3) % PROCS);
    EXPECT((*go(me, 2)).key[2], (MYPROC + 2) % PROCS);
    EXPECT((*me).next->next->key[2], (MYPROC + 2) % PROCS);
    EXPECT((*me->next).key[2], (MYPROC + 1) % PROCS);
    EXPECT(({ *me; }).key[2], MYPROC);
    EXPECT((PROCS ? *me : link).key[2], MYPROC);
    EXPECT((0, *me).key[2], MYPROC);
    EXPECT((link = *me).key[2], MYPROC);
    barrier();
    return failures;
}
