// flags: -std=gnu89
#include <split-c/split-c.h>
#include "../check.h"

int data[8];

int *global at(base, index)
int *global base;
{
    return base + index;
}

double blend(x, y, p, n, q)
double x, *y;
int *global p, n;
register int *spread q;
{
    return x + *y + *p + n + (q == NULL);
}

splitc_main(argc, argv)
int argc;
char **argv;
{
    int i;
    double half = 0.5;

    for (i = 0; i < 8; i++)
        data[i] = 100 * MYPROC + i;
    barrier();
    EXPECT(*at(toglobal(PROCS - 1, data), 5), 100 * (PROCS - 1) + 5);
    EXPECT(blend(1.5, &half, toglobal(MYPROC, &data[3]), 4, (int *spread)0),
           1.5 + 0.5 + 100 * MYPROC + 3 + 4 + 1);
    EXPECT(argc, 1);
    EXPECT(argv[1] == 0, 1);
    barrier();
    return failures;
}
