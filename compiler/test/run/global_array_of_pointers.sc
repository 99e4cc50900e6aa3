#include <split-c/split-c.h>
#include "../check.h"

int value;
static int *global everyone[64];

int splitc_main(void)
{
    int *global pair[2][2];
    int *global *walk;
    long sum = 0;

    value = 7 + MYPROC;
    for (int p = 0; p < PROCS; p++)
        everyone[p] = toglobal(p, &value);
    pair[0][1] = everyone[0];
    pair[1][0] = everyone[PROCS - 1];
    barrier();
    for (walk = everyone; walk < everyone + PROCS; walk++)
        sum += **walk;
    EXPECT(sum, 7 * PROCS + PROCS * (PROCS - 1) / 2);
    EXPECT(*pair[0][1], 7);
    EXPECT(*pair[1][0], 6 + PROCS);
    EXPECT(sizeof everyone, 64 * sizeof(void *));
    EXPECT(sizeof pair / sizeof pair[0], 2);
    barrier();
    return failures;
}
