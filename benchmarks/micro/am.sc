/* SPDX-License-Identifier: BSD-3-Clause
 *
 * am.sc MILLISECONDS - active messages of four words, on 2 ranks.
 */
#include "measure.h"

#include <split-c/am.h>
#include <split-c/split-c.h>

enum { BURST = 4096 }; /* messages one way between two answers */

static long replies, requests;

static void on_reply(int source, am_word a, am_word b, am_word c, am_word d)
{
    replies++;
}

static void on_request(int source, am_word a, am_word b, am_word c, am_word d)
{
    requests++;
    am_reply_4(source, on_reply, a, b, c, d);
}

static void on_message(int source, am_word a, am_word b, am_word c, am_word d)
{
    requests++;
}

static void serve(long count)
{
    while (requests < count)
        splitc_poll();
    requests -= count;
}

static double round_trips(long n)
{
    double start;

    barrier();
    start = now_ns();
    on_one for (long i = 1; i <= n; i++)
    {
        am_request_4(1, on_request, i, i, i, i);
        while (replies < i)
            splitc_poll();
    }
    on_proc(1) serve(n);
    replies = 0;
    return now_ns() - start;
}

static double one_way(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long burst = 0; burst < n; burst++) {
        on_one for (long i = 1; i < BURST; i++) am_request_4(1, on_message, i, i, i, i);
        on_one am_request_4(1, on_request, 0, 0, 0, 0);
        on_proc(1) serve(BURST);
        while (MYPROC == 0 && replies <= burst)
            splitc_poll();
    }
    replies = 0;
    return now_ns() - start;
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    measure(&team, "am_round_trip", 1, round_trips, 0);
    measure(&team, "am_one_way", BURST, one_way, 0);
    return 0;
}
