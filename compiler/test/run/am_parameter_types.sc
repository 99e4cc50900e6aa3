#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* Handlers may take words as whatever fits into one. */
enum color { RED, GREEN = 5 };
struct node {
    int value;
};

static struct node node = {41};
static int calls;

static void small(short source, int a, unsigned char b, enum color c)
{
    EXPECT(a, -7);
    EXPECT(b, 250);
    EXPECT(c, GREEN);
    calls++;
}

static void pointers(int source, struct node *n, int *global g, void (*f)(int))
{
    EXPECT(n->value, 41);
    EXPECT(toproc(g), source);
    f(n->value);
}

static void called(int value)
{
    EXPECT(value, 41);
    calls++;
}

static int with_result(long source, _Bool yes)
{
    EXPECT(yes, 1);
    return calls++;
}

int splitc_main(void)
{
    int here, right = (MYPROC + 1) % PROCS;

    am_request_3(right, (am_handler)small, -7, 250, GREEN);
    am_request_3(right, pointers, (am_word)&node, (am_word)toglobal(MYPROC, &here),
                 (am_word)called);
    am_request_1(right, (am_handler)with_result, 1);
    while (calls < 3)
        splitc_poll();
    barrier();
    EXPECT(calls, 3);
    return failures;
}
