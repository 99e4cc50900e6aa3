// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
// ranks: 1 3 4
//
// Reductions by hand over a tree of stores, which a macro defines for each type, a ring and a
// pipeline: every processor counts what it was stored, and consumes it in parts.
#include <split-c/split-c.h>
#include "../check.h"

#define PLUS(a, b) ((a) + (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))
#define LESS(a, b) ((a) < (b) ? (a) : (b))

#define ALL_REDUCE(name, type, op)                                                                 \
    static type name##_in[2];                                                                      \
    type name(v)                                                                                   \
    type v;                                                                                        \
    {                                                                                              \
        int left = 2 * MYPROC + 1, right = left + 1;                                               \
        store_sync(((left < PROCS) + (right < PROCS)) * sizeof(type));                             \
        if (left < PROCS)                                                                          \
            v = op(v, name##_in[0]);                                                               \
        if (right < PROCS)                                                                         \
            v = op(v, name##_in[1]);                                                               \
        if (MYPROC) {                                                                              \
            type *global up = toglobal((MYPROC - 1) / 2, &name##_in[!(MYPROC & 1)]);               \
            *up :- v;                                                                              \
            store_sync(sizeof(type));                                                              \
            v = name##_in[0];                                                                      \
        }                                                                                          \
        if (left < PROCS)                                                                          \
            *toglobal(left, name##_in) :- v;                                                       \
        if (right < PROCS)                                                                         \
            *toglobal(right, name##_in) :- v;                                                      \
        barrier();                                                                                 \
        return v;                                                                                  \
    }

ALL_REDUCE(sum, int, PLUS)
ALL_REDUCE(greatest, double, MORE)
ALL_REDUCE(least, long, LESS)

static int token, passed, many[3000];
static double handed, result;

ring(rounds)
{
    int next = (MYPROC + 1) % PROCS, i;

    for (i = 0; i < rounds; i++) {
        if (MYPROC || i)
            store_sync(sizeof(int));
        if (i == rounds - 1 && MYPROC == PROCS - 1)
            passed = token + 1; /* and keeps it */
        else
            *toglobal(next, &token) :- token + 1;
    }
    barrier();
    EXPECT(*toglobal(PROCS - 1, &passed), rounds * PROCS);
}

pipeline(length)
{
    int i;

    for (i = 0; i < length; i++) {
        double v = i;

        if (MYPROC) {
            store_sync(sizeof(double));
            v += handed;
        }
        if (MYPROC < PROCS - 1)
            *toglobal(MYPROC + 1, &handed) :- v;
        else
            result += v;
        barrier(); /* `handed` has been used */
    }
    on_proc(PROCS - 1)
        EXPECT(result, PROCS * length * (length - 1) / 2);
}

flood()
{
    int *global there = toglobal((MYPROC + 1) % PROCS, many);
    int i, wrong = 0;

    for (i = 0; i < 3000; i++)
        there[i] :- i;
    store_sync(5000), store_sync(7000);
    EXPECT(is_store_sync(1), 0);
    for (i = 0; i < 3000; i++)
        wrong += many[i] != i;
    EXPECT(wrong, 0);
    barrier();
    there[1] :- 7;
    while (!is_store_sync(sizeof(int)))
        splitc_poll();
    reset_store_sync();
    EXPECT(is_store_sync(1), 0);
    EXPECT(many[1], 7);
    barrier();
}

splitc_main()
{
    int i;

    for (i = 0; i < 3; i++) {
        EXPECT(sum(MYPROC + i), PROCS * (PROCS - 1) / 2 + i * PROCS);
        EXPECT(2 * greatest(.5 * MYPROC), PROCS - 1);
        EXPECT(least(-MYPROC * 10000000000L), (1 - PROCS) * 10000000000L);
    }
    ring(5);
    pipeline(10);
    flood();
    return failures;
}
