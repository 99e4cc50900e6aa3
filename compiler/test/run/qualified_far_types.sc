// SPDX-License-Identifier: BSD-3-Clause
//
// const, volatile and restrict beside names of far types: in parameters, members, arrays, static
// and thread-local objects.
#include <split-c/split-c.h>
#include "../check.h"

typedef int *global place;
typedef const int *global view;
typedef volatile int *spread watched;
typedef place const fixed;
typedef place triple[3];

static const int table[] = {1, 2, 3, 4};
static volatile int flag;
static int cell;
static fixed nothing = 0;
static volatile place moving;
static const struct {
    view table;
    const char *const name;
    place const *list;
} empty = {0, "empty", 0};
static _Thread_local place of_thread;

static int sum(const view restrict from, register int n)
{
    register int s = 0;

    for (register view p = from; p < from + n; p++)
        s += *p;
    return s;
}

static int three(const triple list, place __restrict__ once, watched restrict never)
{
    return never ? 0 : *list[0] + **(list + 1) + list[2][0] + *once;
}

static place following(void)
{
    static place current;
    static int calls;

    current = calls++ ? current + 1 : toglobal(MYPROC, (int *)table);
    return current;
}

static void set(int *const global *where, int value)
{
    **where = value;
}

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, A[PROCS]::;
    const volatile int *global cv = toglobal(next, &flag);
    volatile int *spread const base = A;
    triple list = {toglobal(next, &cell), toglobal(0, &cell), toglobal(MYPROC, &cell)};
    struct {
        place const restrict a;
        volatile place b;
    } pair = {list[0], list[0] + 1};
    const place *far_const = list;
    place const *const middle = list + 1;

    flag = 7 + MYPROC;
    cell = 1 + MYPROC;
    A[MYPROC] = MYPROC;
    barrier();
    EXPECT(sum(toglobal(next, table), 4), 10);
    EXPECT(*cv, 7 + next);
    EXPECT(base[next] + *(base + next), 2 * next);
    EXPECT(three(list, toglobal(0, &cell), NULL), 4 + next + MYPROC);
    EXPECT(*following() + *following() + 10 * *following(), 33);
    barrier();
    int *const global target = list[0];
    set(&target, 99);
    barrier();
    EXPECT(cell, 99);
    pair.b--;
    EXPECT(pair.a == pair.b && *pair.b == 99, 1);
    pair.b += 2;
    EXPECT(--pair.b - pair.a, 1);
    EXPECT((moving = list[0]) == far_const[0] && *moving == **middle, 1);
    of_thread = moving;
    EXPECT(*of_thread, 99);
    EXPECT(empty.table || empty.list || nothing, 0);
    barrier();
    return failures;
}
