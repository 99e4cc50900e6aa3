/* SPDX-License-Identifier: BSD-3-Clause
 *
 * trace.sc - messages, waits and bulk transfers of known numbers, for trace_test.py.
 */
#include <split-c/am.h>
#include <split-c/split-c.h>
#include <stdlib.h>

#define ROUNDS 10

static int requests, replies;
static double block[512];

static void on_reply(int source, am_word a)
{
    replies += (int)a;
}

static void on_request(int source, am_word a)
{
    requests++;
    am_reply_1(source, on_reply, a);
}

static void on_got(int source, void *where, splitc_size bytes, am_word a)
{
    replies += (int)a;
}

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS;
    double *copy = malloc(sizeof block);

    for (int i = 0; i < ROUNDS; i++)
        am_request_1(next, on_request, 1);
    while (replies < ROUNDS || requests < ROUNDS)
        splitc_poll();
    am_get(next, block, copy, sizeof block, on_got, 1);
    while (replies < ROUNDS + 1)
        splitc_poll();
    barrier();
    bulk_read(copy, toglobal(next, block), sizeof block);
    bulk_put(toglobal(next, block), copy, sizeof block);
    sync();
    barrier();
    free(copy);
    return 0;
}
