// SPDX-License-Identifier: BSD-3-Clause
//
// Types without tags that have a name and one for far pointers to them, and types that the head of
// a function defines.
#include <split-c/split-c.h>
#include <stddef.h>
#include "../check.h"

typedef struct { int x; } cell, *global cell_at;
typedef struct { int y; } *global pair_at, pair;
typedef enum { FALSE, TRUE } boolean, *global boolean_at;
typedef union { int i; float f; } *spread word_at, word;

struct item { int a; } *global next_item(struct item *global x) { return x + 1; }
enum kind { ODD, EVEN } *global same_kind(enum kind *global x) { return x; }

cell a;
pair b;
boolean c = TRUE;
word w[PROCS]::;
struct item items[3];
enum kind kinds[2] = {EVEN, ODD};

int *global nothing = (int *global)NULL;
static struct item *global head = (struct item *global)NULL;
struct { int *global p; int k; } table[] = {{(int *global)NULL, 1}};
int *global nowhere = (int *global)(void *)0;

int splitc_main()
{
    typedef struct { int z; } inner, *global inner_at;
    const int other = (MYPROC + 1) % PROCS;
    inner mine;
    inner_at m = &mine;
    cell_at p = toglobal(other, &a);
    pair_at q = toglobal(other, &b);
    boolean_at r = toglobal(other, &c);
    word_at s = &w[other];

    m->z = MYPROC;
    p->x = other + 1;
    q->y = other + 2;
    *r = FALSE;
    s->i = other + 3;
    items[1].a = MYPROC;
    barrier();
    EXPECT(mine.z, MYPROC);
    EXPECT(a.x, MYPROC + 1);
    EXPECT(b.y, MYPROC + 2);
    EXPECT(c, FALSE);
    EXPECT(w[MYPROC].i, MYPROC + 3);
    EXPECT(next_item(toglobal(other, items))->a, other);
    EXPECT(*same_kind(toglobal(other, kinds)), EVEN);
    EXPECT(nothing == NULL && head == NULL && table[0].p == NULL && nowhere == NULL, 1);
    barrier();
    return failures;
}
