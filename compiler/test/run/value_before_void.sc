// flags: -std=gnu89
// not with clang
// SPDX-License-Identifier: BSD-3-Clause
//
// A function whose value is used before it turns out to return none; and one that is only called.
#include <split-c/split-c.h>
#include "../check.h"

int *global place;
int x;

before()
{
    quiet();
    (quiet());
    x = 1, quiet();
    return loud();
}

void loud()
{
    *place = *place + 1;
}

void quiet()
{
    *place = *place + 10;
}

splitc_main()
{
    place = toglobal(MYPROC, &x);
    before();
    EXPECT(x, 12);
    return failures;
}
