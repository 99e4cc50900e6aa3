// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89 -Werror=incompatible-pointer-types -Werror=cast-function-type
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Handlers without a type return int, which is nothing to warn of. */
static int acked, sum;

ack(from)
{
    acked++;
    return 0;
}

add(from, a, b)
int from, a, b;
{
    sum += a * b;
    am_reply_0(from, ack);
    return 0;
}

#define SEND(to, handler, a, b) am_request_2((to), (handler), (a), (b))

splitc_main()
{
    am_request_2((MYPROC + 1) % PROCS, add, 3, 4);
    SEND(MYPROC, add, 5, 6);
    {
        int am_handler = 1;

        am_request_2(MYPROC, add, am_handler, 0);
    }
    while (acked < 3)
        am_poll();
    barrier();
    EXPECT(sum, 42);
    return failures;
}
