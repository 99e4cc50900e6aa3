#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* More requests than any window has, to all, in order; served in every wait. */
enum { N = 2000 };
static int next[64], answers;

static void back(int source)
{
    answers++;
}

static void count(int source, am_word i)
{
    EXPECT(i, next[source]);
    next[source]++;
    am_reply_0(source, back);
}

int splitc_main(void)
{
    for (int i = 0; i < N; i++)
        for (int p = 0; p < PROCS; p++)
            am_request_1(p, count, i);
    while (answers < N * PROCS)
        am_poll();
    barrier();
    for (int p = 0; p < PROCS; p++)
        EXPECT(next[p], N);
    return failures;
}
