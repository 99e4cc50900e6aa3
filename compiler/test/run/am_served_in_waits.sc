#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Handlers run in barriers, and while a program waits and polls. */
static int hits;
static double cell;

static void hit(int source, am_word n)
{
    hits += n;
}

int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS;

    am_request_1(right, hit, 1);
    barrier();
    EXPECT(hits, 1);
    barrier();
    am_request_1(right, hit, 10);
    *toglobal(right, &cell) :- 2.5;
    store_sync(sizeof cell);
    EXPECT(2 * cell, 5);
    while (hits < 11)
        if (*toglobal(left, &cell) < 0)
            failures = 1;
        else
            splitc_poll();
    EXPECT(hits, 11);
    barrier();
    return failures;
}
