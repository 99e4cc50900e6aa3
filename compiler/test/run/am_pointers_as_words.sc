// ranks: 2
// flags: -Werror=int-conversion
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Words may be pointers in every call, not only in those that count them. */
static int requests, replies, blocks, moved;
static char source[64], target[64], fetched[64];
static int *global shared;

static void back(int from, int *count)
{
    ++*count;
}

static void here(int from, int *count, int *reply)
{
    ++*count;
    am_reply_1(from, back, reply);
}

static void real(int from, int *count, double d)
{
    *count += d;
}

static void block(int from, void *address, splitc_size n, am_word count)
{
    ++*(int *)count;
}

static void far(int from, int *global p)
{
    requests += p == shared;
}

static void moved_away(void *count)
{
    ++*(int *)count;
}

splitc_main()
{
    int other = (MYPROC + 1) % PROCS;

    shared = toglobal(0, &requests);
    barrier();
    am_request_2(other, here, &requests, &replies);
    am_request_1_df(other, real, &requests, 2.0);
    am_request_1(other, far, shared);
    am_request_medium_1(other, block, source, sizeof source, &blocks);
    am_store(other, source, target, sizeof target, block, &blocks);
    am_store_async(other, source, target, sizeof target, block, &blocks, moved_away, &moved);
    am_get(other, source, fetched, sizeof fetched, block, &blocks);
    while (requests < 4 || replies < 1 || blocks < 4 || moved < 1)
        am_poll();
    barrier();
    EXPECT(requests, 4);
    EXPECT(replies, 1);
    EXPECT(blocks, 4);
    return failures;
}
