// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

/* Casts to global and spread pointers define what these point to, and so do parameters. */

static int words[4], *global other;
int A[4]::;
static void *global beyond = (struct { int a; } *global)0;

static int of_own_type(struct { int x; } *global p)
{
    return p->x;
}

int second(int *global p)
{
    return ((struct { int a, b; } *global)p)->b;
}

int splitc_main(void)
{
    int *global p = toglobal(PROCS - 1, words), *spread s = A, got = 0;

    other = p;
    on_one {
        ((struct { int first, second; } *global)p)->second = 7;
        EXPECT(second(p), 7);
        got = ((const struct pair { int a, b; } *global)p)->b;
        ((struct pair *global)p)->a = 3;
        EXPECT(got, 7);
        if (p)
            EXPECT((*(union { int i; unsigned char c[4]; } *global)(p + 1)).c[0], 7);
        ((struct { int : 4, low : 4; } *global)p)->low++;
        EXPECT(*p, 19);
        got := ((struct { int a[2]; } *global)p)[1].a[0];
        sync();
        EXPECT(got, 0);
        ((struct list { int key; struct { int *global deep; } in; } *global)p)->key *= 2;
        EXPECT(*p, 38);
        EXPECT((*(struct { int *global at; } *global *)&(int *global){(int *global)&other})->at == p, 1);
        switch ((*(enum { LOW, HIGH = 38 } *global)p)) {
        case HIGH:
            ((struct { int x; } *spread)s)[3].x = HIGH + LOW;
            break;
        default:
            EXPECT(1, 0);
        }
        EXPECT(A[3], 38);
        for (int i = 0; i < 1; i++)
            ((struct { char c[4]; } *global)p)->c[i] = 1;
        EXPECT(({ int n = ((struct { int x; } *global)p)->x; n; }), 1);
        EXPECT(sizeof(struct { int a; } *global), 8);
        EXPECT(sizeof *(struct { int a, b, c; } *global)p, 12);
        EXPECT(sizeof((struct { int *global a; char c; }){0}), 16);
        EXPECT(__alignof__(struct { int *global a; }), 8);
        EXPECT(of_own_type((void *global)p), 1);
        EXPECT((struct { int a; } *global[]){(void *global)p}[0]->a, 1);
    }
    barrier();
    EXPECT(beyond == NULL, 1);
    return failures;
}
