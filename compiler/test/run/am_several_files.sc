// with: parts/am_more.sc
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Static handlers of one name in two files, and one that both use. */
extern void common(int source, am_word w);
extern void send_from_there(int dest);
extern int common_calls, calls_there;

static int calls_here;

static void handler(int source, am_word w)
{
    calls_here += w;
}

int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS;

    am_request_1(right, handler, 1);
    am_request_1(right, common, 1);
    send_from_there(right);
    while (common_calls < 3)
        splitc_poll();
    EXPECT(calls_here, 1);
    EXPECT(calls_there, 20);
    EXPECT(common_calls, 3);
    barrier();
    return failures;
}
