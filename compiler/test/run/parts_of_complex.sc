// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static double _Complex z;
static struct {
    double _Complex c[3];
    float _Complex f;
} s;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS;
    double _Complex *global g = toglobal(next, &z);
    __typeof__(s) *global h = toglobal(next, &s);
    double *global part = &__imag__ *g;
    double d;

    EXPECT(sizeof __imag__ h->f, sizeof(float));
    __real__ *g = 1;
    __imag__ *g = 2;
    __imag__ *g += 2;
    EXPECT((__real__ *g)++, 1);
    *part += 1;
    __imag__ h->c[2] := 7;
    sync();
    d := __imag__ h->c[2];
    sync();
    EXPECT(d, 7);
    EXPECT(__imag__ *g * 10 + __real__ *g, 52);
    __imag__ h->f :- 3;
    all_store_sync();
    EXPECT(__real__ z, 2);
    EXPECT(__imag__ z, 5);
    EXPECT(__real__ s.c[2], 0);
    EXPECT(__imag__ s.f, 3);
    return failures;
}
