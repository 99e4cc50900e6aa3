#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

enum { SIZE = 100000 };

static char from[SIZE], to[SIZE], back[SIZE];
static int stored, got, ended;

static void on_store(int source, void *address, splitc_size n, am_word arg)
{
    EXPECT((char *)address, (char *)to);
    EXPECT(n, SIZE);
    EXPECT(arg, source);
    for (int i = 0; i < SIZE; i++)
        if (to[i] != (char)(i + source))
            failures = 1;
    stored++;
}

static void on_get(int source, void *address, splitc_size n, am_word arg)
{
    EXPECT((char *)address, (char *)back);
    EXPECT(n, SIZE);
    got += arg;
}

static void at_end(void *arg)
{
    ended += *(int *)arg;
}

int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS, three = 3;

    for (int i = 0; i < SIZE; i++)
        from[i] = i + MYPROC;
    barrier();
    EXPECT(am_store(right, from, to, SIZE, on_store, MYPROC), 0);
    while (stored < 1)
        splitc_poll();
    barrier();
    EXPECT(am_store_async(right, from, to, SIZE, on_store, MYPROC, at_end, &three), 0);
    while (stored < 2 || ended < 3)
        splitc_poll();
    EXPECT(am_get(left, from, back, SIZE, on_get, 7), 0);
    while (got < 7)
        splitc_poll();
    for (int i = 0; i < SIZE; i++)
        if (back[i] != (char)(i + left))
            failures = 1;
    EXPECT(ended, 3);
    EXPECT(am_max_size() > SIZE, 1);
    barrier();
    return failures;
}
