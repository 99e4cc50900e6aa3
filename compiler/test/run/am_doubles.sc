#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Words and a double, both ways. */
static int answers;
static double sum;

static void back0(int source, double d)
{
    answers++;
    sum += d;
}
static void back1(int source, am_word a, double d)
{
    answers++;
    sum += a * d;
}
static void back2(int source, am_word a, am_word b, double d)
{
    answers++;
    sum += a * b * d;
}
static void back3(int source, am_word a, am_word b, am_word c, double d)
{
    answers++;
    sum += a * b * c * d;
}
static void back4(int source, am_word a, am_word b, am_word c, am_word e, double d)
{
    answers++;
    sum += a * b * c * e * d;
}

static void on0(int source, double d)
{
    am_reply_0_df(source, back0, d);
}
static void on1(int source, am_word a, double d)
{
    am_reply_1_df(source, back1, a, d);
}
static void on2(int source, am_word a, am_word b, double d)
{
    am_reply_2_df(source, back2, a, b, d);
}
static void on3(int source, am_word a, am_word b, am_word c, double d)
{
    am_reply_3_df(source, back3, a, b, c, d);
}
static void on4(int source, am_word a, am_word b, am_word c, am_word e, double d)
{
    am_reply_4_df(source, back4, a, b, c, e, d);
}

int splitc_main(void)
{
    for (int p = 0; p < PROCS; p++) {
        am_request_0_df(p, on0, 0.25);
        am_request_1_df(p, on1, 2, 0.25);
        am_request_2_df(p, on2, 2, 3, 0.25);
        am_request_3_df(p, on3, 2, 3, 5, 0.25);
        am_request_4_df(p, on4, 2, 3, 5, 7, 0.25);
    }
    while (answers < 5 * PROCS)
        splitc_poll();
    EXPECT(4 * sum, PROCS * (1 + 2 + 6 + 30 + 210));
    barrier();
    return failures;
}
