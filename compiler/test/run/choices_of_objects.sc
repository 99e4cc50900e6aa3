// SPDX-License-Identifier: BSD-3-Clause
//
// A choice of two global objects may be fetched, stored to and assigned, as gcc took it when Split-C
// was made of it.
#include <split-c/split-c.h>
#include "../check.h"

struct cell {
    int v, w;
    short row[2];
};

int A[8]::;
struct cell cells[2];

int splitc_main(void)
{
    const int next = (MYPROC + 1) % PROCS;
    int *global near = toglobal(MYPROC, &cells[0].v), *global far = toglobal(next, &cells[1].v);
    int left = 0, right = 0, n = 0;
    struct cell *global c = toglobal(next, cells), whole;

    for (int i = 0; i < 8; i++)
        on_one A[i] = 10 * i;
    barrier();
    for (int i = 0; i < 8; i++) {
        left := i ? A[i - 1] : A[7];
        right := (i < 7 ? A[i + 1] : A[0]);
        sync();
        EXPECT(left, 10 * (i ? i - 1 : 7));
        EXPECT(right, 10 * (i < 7 ? i + 1 : 0));
    }
    (n++ ? *near : *far) = 5;
    EXPECT(n, 1);
    barrier();
    EXPECT(cells[1].v, 5);
    (n ? *near : *far) += 3;
    (n ? c->w : *far)++;
    (n ? c[1].w : *near) := 7;
    sync();
    barrier();
    EXPECT(cells[0].v, 3);
    EXPECT(cells[0].w, 1);
    EXPECT(cells[1].w, 7);
    (n ? *far : *near) :- 9;
    all_store_sync();
    EXPECT(cells[1].v, 9);
    whole := n > 100 ? c[0] : c[1];
    sync();
    EXPECT(whole.v + whole.w, 16);
    for (int i = 0; i < 8; i++) { // choices of choices
        left := i == 0 ? A[7] : i == 1 ? A[0] : (n++, A[i - 1]);
        sync();
        EXPECT(left, 10 * (i ? i - 1 : 7));
    }
    EXPECT(n, 7);
    barrier();
    (n > 9 ? A[0] : n > 6 ? c->w : c->v) = 20;
    (n > 6 ? c[0] : c[1]).v = 21; // and what is in them
    (n > 6 ? c[0] : c[1]).row[1] = 22;
    right := (n > 6 ? c[0] : c[1]).v;
    sync();
    EXPECT(right, 21);
    EXPECT((n > 6 ? c[0] : c[1]).row[1], 22);
    barrier();
    EXPECT(cells[0].w, 20);
    EXPECT(cells[0].v, 21);
    EXPECT(cells[0].row[1], 22);
    EXPECT(*&(n > 6 ? c[0] : n > 5 ? c[1] : *c).w, 20);
    return failures;
}
