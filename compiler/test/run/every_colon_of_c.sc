// SPDX-License-Identifier: BSD-3-Clause
//
// What looks like `::`, `:=` or `:-` in C stays C: operands of asm, GNU's conditional without a
// middle operand, associations of _Generic, ranges of cases, digraphs.
#include <split-c/split-c.h>
#include "../check.h"

#define NOTHING __asm__ __volatile__("" ::)
#define CHOOSE(c, a, b) ((c) ? (a) :-(b))
#define STORE(g, v) *(g) :- (v)

int A<:4:>::<:3:>; /* A[4]::[3] */
static int x, y;

static int same_or_minus_one(int n)
{
    return n ?:-1;
}

static int chosen(int n)
{
    switch (n) {
    case 1:-n;
        return -1;
    case 2 ... 3:-n;
        return n ? -n:-9;
    case 'a' ? -7 :-8:
        return 5;
    case -9: {
out:-n;
        return-9;
    }
    default:-1;
        if (n == 50)
            goto out;
        return n > 0 ? n :-n;
    }
}

static void asm_operands(void)
{
    int from = 3, to = 0;

    NOTHING;
    __asm__ volatile("" ::: "memory");
    __asm__("" :"=r"(to):"0"(from));
    __asm__(""::"r"(from));
    EXPECT(to, 3);
}

static void stores_between_colons(int *global g, int *global h)
{
    int n = 0;

    if (MYPROC >= 0) *g :- 1; else *g :-2;
    store_sync(sizeof(int));
    EXPECT(x, 1);
    barrier();
    for (; n < 2; *g:-n, n++)
        *h :-n;
    store_sync(4 * sizeof(int));
    EXPECT(10 * x + y, 11);
    barrier();
    do
        STORE(g, -5), STORE(h, n ? 6 :-6);
    while (n < 0);
    store_sync(2 * sizeof(int));
    EXPECT(10 * x + y, -44);
    barrier();
    n ? (*g :- 9) : (void)(*h :- 8);
    store_sync(sizeof(int));
    EXPECT(x, 9);
    barrier();
again: *g :- n;
    if (n++ < 4)
        goto again;
    store_sync(3 * sizeof(int));
    EXPECT(x, 4);
}

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, n = 3;
    int *global g = toglobal(next, &x), *global h = toglobal(next, &y);
    int list[3] = {*g, [2] = n ? *g :-*g};
    const char *text = n ? ":-" ":=" : "::";

    asm_operands();
    EXPECT(same_or_minus_one(0), -1);
    EXPECT(same_or_minus_one(4), 4);
    EXPECT(chosen(1) + 10 * chosen(2), -21);
    EXPECT(chosen(-7) + 10 * chosen(-9), -85);
    EXPECT(chosen(50) + 100 * chosen(-60), 5991);
    EXPECT(_Generic(n, int:-1, default:-2), -1);
    EXPECT(_Generic(1.0, int:-1, default:-2), -2);
    EXPECT((n ?1?4:-5:-6) + CHOOSE(0, 1, 2), 2);
    EXPECT(list[0] + list[1] + list[2], 0);
    EXPECT(text[3], '=');
    on_one A<:1:><:2:> :- 7;
    all_store_sync();
    EXPECT(A[1][2], 7);
    stores_between_colons(g, h);
    barrier();
    return failures;
}
