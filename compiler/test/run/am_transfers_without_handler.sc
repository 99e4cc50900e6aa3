#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

static long from[10], to[10], back[10];

int splitc_main(void)
{
    int right = (MYPROC + 1) % PROCS, left = (MYPROC + PROCS - 1) % PROCS;

    for (int i = 0; i < 10; i++)
        from[i] = to[i] = back[i] = 100 * MYPROC + i;
    barrier();
    am_store(right, from, to, 9 * sizeof(long), 0, 0);
    am_store_async(right, from + 9, to + 9, sizeof(long), NULL, 0, NULL, NULL);
    am_get(left, from, back, sizeof back, 0, 0);
    while (to[9] != 100 * left + 9 || back[9] != 100 * left + 9)
        splitc_poll();
    for (int i = 0; i < 10; i++) {
        EXPECT(to[i], 100 * left + i);
        EXPECT(back[i], 100 * left + i);
    }
    barrier();
    return failures;
}
