// with: parts/atomic_more.sc parts/atomic_plain.c
#include <split-c/split-c.h>
#include "../check.h"

/* The same name is another function in parts/atomic_more.sc. */
static int change(int *p, int by)
{
    return *p += by;
}

extern int elsewhere(int *p, int by);
extern int in_plain_c(int *p, int by);
extern int changed_elsewhere(int *global g, int by);

int cell = 10;

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, &cell);

    on_one {
        EXPECT(atomic(change, g, 5), 15);
        EXPECT(changed_elsewhere(g, 5), 10);
        EXPECT(atomic(elsewhere, g, 2), 20);
        EXPECT(atomic(in_plain_c, g, 3), 23);
    }
    barrier();
    return failures;
}
