// flags: -std=gnu89
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

static int answers;

/* Declared without parameters, used, then defined the old way. */
static void add();
static sum();
static void halve();

splitc_main()
{
    int p;

    for (p = 0; p < PROCS; p++) {
        am_request_2(p, add, 40, 2);
        am_request_1_df(p, halve, 3, 5.0);
    }
    while (answers < 42 * PROCS)
        am_poll();
    barrier();
    EXPECT(answers, 42 * PROCS);
    return failures;
}

static void add(source, a, b)
    int source;
    int a, b;
{
    am_reply_1(source, sum, a + b);
}

static sum(source, n)
{
    answers += n;
}

static void halve(source, n, d) double d;
{
    EXPECT(n * d, 15);
}
