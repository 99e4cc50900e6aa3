#include <split-c/split-c.h>
#include "../check.h"

struct flags {
    unsigned p0 : 5, p1 : 7, p2 : 3, p3 : 9;
} flags;

// Neighbours in one word, written by all at once, do not disturb each other.
int splitc_main(void)
{
    struct flags *global g = toglobal(0, &flags);

    barrier();
    for (int i = 0; i < 200; i++) {
        switch (MYPROC) {
        case 0:
            g->p0 = i;
            break;
        case 1:
            g->p1 = i;
            break;
        case 2:
            g->p2 = i;
            break;
        case 3:
            g->p3 = i;
        }
    }
    barrier();
    EXPECT(g->p0, 199 % 32);
    EXPECT(g->p1, PROCS > 1 ? 199 % 128 : 0);
    EXPECT(g->p2, PROCS > 2 ? 199 % 8 : 0);
    EXPECT(g->p3, PROCS > 3 ? 199 : 0);
    barrier();
    return failures;
}
