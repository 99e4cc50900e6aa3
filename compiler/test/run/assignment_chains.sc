#include <split-c/split-c.h>
#include "../check.h"

int a;
unsigned char b;
double c;

int splitc_main(void)
{
    int *global ga = toglobal((MYPROC + 1) % PROCS, &a);
    unsigned char *global gb = toglobal((MYPROC + 1) % PROCS, &b);
    double *global gc = toglobal((MYPROC + 1) % PROCS, &c);
    int *global p, *global q, *global none[2];
    int local;

    barrier();
    // A value takes the type of what it is assigned to on the way.
    *gc = *ga = local = *gb = 300;
    barrier();
    EXPECT(b, 44);
    EXPECT(a, 44);
    EXPECT(c, 44);
    EXPECT(local, 44);
    barrier();
    *ga = *gc = 2.75;
    p = q = ga;
    none[0] = none[1] = 0;
    barrier();
    EXPECT(a, 2);
    EXPECT(c * 4, 11);
    EXPECT(*(p = q) + (q - p), 2);
    EXPECT(none[0] == none[1], 1);
    EXPECT((*ga == 2 && *gb == 44) ? *gc * 4 : 0, 11);
    EXPECT((local = *ga, local + *ga), 4);
    barrier();
    return failures;
}
