#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Handlers out of a table, a parameter and a conditional. */
static int calls[4];

static void zero(int source, am_word w)
{
    calls[0] += w;
}
static void one(int source, am_word w)
{
    calls[1] += w;
}
static void two(int source, am_word w)
{
    calls[2] += w;
}
void three(int source, am_word w)
{
    calls[3] += w;
}

static am_handler table[] = {zero, &one};

static void send(int dest, void (*handler)(int, am_word))
{
    am_request_1(dest, handler, 10);
}

int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS;

    for (int i = 0; i < 2; i++)
        am_request_1(right, table[i], 1 + i);
    send(right, two);
    am_request_1(right, MYPROC >= 0 ? three : two, 4);
    while (calls[3] == 0)
        splitc_poll();
    EXPECT(calls[0], 1);
    EXPECT(calls[1], 2);
    EXPECT(calls[2], 10);
    EXPECT(calls[3], 4);
    barrier();
    return failures;
}
