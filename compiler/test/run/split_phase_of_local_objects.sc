// flags: -std=gnu89
//
// A ':=' that fetches nothing from anywhere is an assignment in old programs.
#include <split-c/split-c.h>
#include "../check.h"

#define COPY(to, from) to := from

struct pair {
    int a, b : 5;
    double *global d;
};

double cell;

splitc_main()
{
    int x = 1, y = 7, v[2], i = 0;
    int *global g = &y, *global h, *p = &x;
    struct pair here, other;

    other.a = 3;
    other.b = 4;
    COPY(x, y);
    COPY(v[i++], x + 1);
    COPY(h, g);
    COPY(here, other);
    COPY(here.b, 9);
    COPY(here.d, &cell);
    COPY(*p, *p + 1);
    EXPECT(x, 8);
    EXPECT(v[0], 8);
    EXPECT(i, 1);
    EXPECT(toproc(h), MYPROC);
    EXPECT(*h, 7);
    EXPECT(here.a, 3);
    EXPECT(here.b, 9);
    EXPECT(tolocal(here.d) == &cell, 1);
    COPY(h, NULL);
    EXPECT(h == NULL, 1);
    return failures;
}
