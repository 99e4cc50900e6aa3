// flags: -std=gnu89
// SPDX-License-Identifier: BSD-3-Clause
//
// A prototype converts arguments, also where a definition of the old kind follows, or a block
// declares the function again.
#include <split-c/split-c.h>
#include "../check.h"

int value(int *global);
int value(g) int *global g; { return *g; }

int local_value(int *);
int local_value(p) int *p; { return *p; }

typedef int reads(int *global);
reads also_value;
also_value(g) int *global g; { return *g; }

int in_block(p) int *p;
{
    int value();

    return value(p);
}

int A[PROCS]::;

int splitc_main()
{
    int mine = MYPROC + 1;

    A[MYPROC] = mine;
    EXPECT(value(&mine), MYPROC + 1);
    EXPECT(also_value(&mine), MYPROC + 1);
    EXPECT(in_block(&mine), MYPROC + 1);
    EXPECT(local_value(A[MYPROC] ? tolocal(&A[MYPROC]) : &mine), MYPROC + 1);
    return failures;
}
