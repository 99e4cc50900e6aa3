// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89 -Wno-incompatible-pointer-types
#include <split-c/split-c.h>
#include <split-c/am.h>
#include "../check.h"

/* Requests of fixed lengths are padded with zeros, and handlers take what they know. */
static int got;

static void done(int source)
{
    got++;
}

static void nothing(void)
{
    got++;
}

static void put(int source, int v)
{
    if (v == 7)
        am_reply_4(source, done, 0, 0, 0, 0);
}

static void real(int source, double v)
{
    got += v == 7.5;
}

static void block(int source, void *address)
{
    got += *(int *)address == 5;
}

static void (*table[])() = {done, (void (*)())put};

static wait_for(n)
{
    while (got < n)
        am_poll();
    EXPECT(got, n);
}

splitc_main()
{
    int next = (MYPROC + 1) % PROCS, five = 5;

    barrier();
    am_request_4(next, put, 7, 0, 0, 0);
    wait_for(1);
    barrier();
    am_request_4(next, (void (*)())put, 7, 0, 0, 0);
    wait_for(2);
    barrier();
    am_request_4(next, table[1], 7, 0, 0, 0);
    wait_for(3);
    barrier();
    am_request_0(next, nothing);
    wait_for(4);
    barrier();
    am_request_4_df(next, real, 1, 2, 3, 4, 7.5);
    wait_for(5);
    barrier();
    am_request_medium(next, block, &five, sizeof five, 1);
    wait_for(6);
    barrier();
    am_request_medium(next, done, &five, sizeof five, 1);
    wait_for(7);
    barrier();
    return failures;
}
