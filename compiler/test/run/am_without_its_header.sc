// ranks: 1 3
/* After split-c.h alone the calls of active messages are the library's. */
#include <split-c/split-c.h>
#include "../check.h"
#define LAST (PROCS - 1)

static int answers, words, stored[4], taken, doubled;

void answer(int source, int n)
{
    answers += n;
    words += source == LAST;
}

void question(int source, int n, char *text)
{
    am_reply_1(source, answer, n + (text == 0));
}

void count(int source, void *at, int n, int arg)
{
    taken += n + arg;
}

void add(int source, double d)
{
    doubled += (int)d;
}

int splitc_main(void)
{
    int ours[4] = {1, 2, 3, 4};

    am_request_2(LAST, question, -7, (char *)0);
    while (!words)
        am_poll();
    EXPECT(answers, -6);
    barrier();
    am_store(LAST, ours, stored, sizeof ours, count, 1);
    am_request(LAST, answer, 5);
    am_request_0_df(LAST, add, 2.5);
    if (MYPROC == LAST) {
        while (taken < PROCS * 17 || doubled < PROCS * 2 || answers < PROCS * 5 - 6)
            am_poll();
        EXPECT(stored[3], 4);
        EXPECT(taken, PROCS * 17);
        EXPECT(answers, PROCS * 5 - 6);
    }
    barrier();
    EXPECT(am_procs(), PROCS);
    return failures;
}
