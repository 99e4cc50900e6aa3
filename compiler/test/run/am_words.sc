#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Requests of every length, each answered by a reply of the same length. */
static int answers;
static unsigned long sums;

static void back0(int source)
{
    answers++;
    sums += source;
}
static void back1(int source, am_word a)
{
    answers++;
    sums += a;
}
static void back2(int source, am_word a, am_word b)
{
    answers++;
    sums += a * b;
}
static void back3(int source, am_word a, am_word b, am_word c)
{
    answers++;
    sums += a * b * c;
}
static void back4(int source, am_word a, am_word b, am_word c, am_word d)
{
    answers++;
    sums += a * b * c * d;
}

static void on0(int source)
{
    am_reply_0(source, back0);
}
static void on1(int source, am_word a)
{
    am_reply_1(source, back1, a);
}
static void on2(int source, am_word a, am_word b)
{
    am_reply_2(source, back2, a, b);
}
static void on3(int source, am_word a, am_word b, am_word c)
{
    am_reply_3(source, back3, a, b, c);
}
static void on4(int source, am_word a, am_word b, am_word c, am_word d)
{
    am_reply_4(source, back4, a, b, c, d);
}

int splitc_main(void)
{
    EXPECT(am_enable(), 0);
    EXPECT(am_procs(), PROCS);
    EXPECT(am_my_proc(), MYPROC);
    for (int p = 0; p < PROCS; p++) {
        EXPECT(am_request_0(p, on0), 0);
        EXPECT(am_request_1(p, on1, 1UL << 63), 0);
        EXPECT(am_request_2(p, on2, 2, 3), 0);
        EXPECT(am_request_3(p, on3, 2, 3, 5), 0);
        EXPECT(am_request_4(p, on4, 2, 3, 5, 7), 0);
    }
    while (answers < 5 * PROCS)
        am_poll();
    EXPECT(sums, PROCS * (PROCS - 1) / 2 + PROCS * ((1UL << 63) + 6 + 30 + 210));
    barrier();
    EXPECT(am_disable(), 0);
    return failures;
}
