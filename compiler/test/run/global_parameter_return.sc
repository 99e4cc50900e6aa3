#include <split-c/split-c.h>
#include "../check.h"

double samples[4];

static double *global third(double *global first)
{
    return first + 2;
}

double *global pick(double *global a, double *global b, int second)
{
    return second ? b : a;
}

int splitc_main(void)
{
    for (int i = 0; i < 4; i++)
        samples[i] = MYPROC + i / 4.0;
    barrier();
    double *global mine = toglobal(MYPROC, samples);
    double *global last = toglobal(PROCS - 1, samples);
    EXPECT(4 * *third(last), 4 * (PROCS - 1) + 2);
    EXPECT(4 * *pick(mine, third(last), 1), 4 * (PROCS - 1) + 2);
    EXPECT(4 * *third(pick(mine, last, 0)), 4 * MYPROC + 2);
    barrier();
    return failures;
}
