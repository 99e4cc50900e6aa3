#include <split-c/split-c.h>
#include "../check.h"

int counter, lock, plain;
long total;

int splitc_main(void)
{
    int *global c = toglobal(0, &counter), old = -1, seen;

    for (int i = 0; i < 100; i++) {
        seen = fetch_add(c, 1);
        if (seen <= old)
            failures = 1;
        old = seen;
        fetch_add_l(toglobal(PROCS - 1, &total), 1L << 33);
    }
    for (int i = 0; i < 20; i++) {
        splitc_lock(toglobal(0, &lock));
        ++*toglobal(0, &plain);
        splitc_unlock(toglobal(0, &lock));
    }
    barrier();
    EXPECT(*c, 100 * PROCS);
    EXPECT(*toglobal(PROCS - 1, &total) >> 33, 100 * PROCS);
    EXPECT(*toglobal(0, &plain), 20 * PROCS);
    barrier();
    on_one {
        EXPECT(exchange(&counter, 5), 100 * PROCS);
        EXPECT(cmp_and_swap(&counter, 5, 6), 5);
        EXPECT(cmp_and_swap(&counter, 5, 7), 6);
    }
    barrier();
    EXPECT(*c, 6);
    barrier();
    return failures;
}
