// flags: -std=gnu89 -w
//
// Objects at file scope may have the names of functions of the C library, which compilers know
// without a header.
#include <split-c/split-c.h>
#include "../check.h"

int index = 3, exp[4];
double log, y0, gamma;
static int pow, floor = 2, round = 5;
int strdup[3]::, *global abs;

splitc_main()
{
    abs = toglobal(0, &index);
    strdup[MYPROC % 3] = floor;
    barrier();
    EXPECT(strdup[0], 2);
    if (MYPROC == 0)
        index += floor;
    barrier();
    EXPECT(*abs, 5);
    log = y0 = gamma = 2.5;
    EXPECT(log + y0 + gamma == 7.5, 1);
    EXPECT(round + pow + exp[3], 5);
    return 0;
}
