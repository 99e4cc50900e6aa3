// SPDX-License-Identifier: BSD-3-Clause
//
// A function that returns a function pointer, whose parameters have no names in its definition.
#include <split-c/split-c.h>
#include "../check.h"

int x;

int get(int *global g) { return *g; }
int spread_get(int n, int *spread s) { return s[n]; }

int (*choose(int k))(int *global);
int (*choose(int k))(int *global)
{
    return k ? get : NULL;
}

int (*(in_parentheses)(int k))(int *global) { return k ? get : NULL; }

int (**of_pointer(void))(int *global)
{
    static int (*chosen)(int *global) = get;
    return &chosen;
}

int (*with_spread(void))(int, int *spread) { return spread_get; }

int (*handed(int (*h)(int *global)))(int *global) { return h; }

int S[4]::;

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, &x);

    x = 5 + MYPROC;
    S[3] = 8;
    barrier();
    EXPECT(choose(1)(g), PROCS + 4);
    EXPECT(in_parentheses(1)(g), PROCS + 4);
    EXPECT((*of_pointer())(g), PROCS + 4);
    EXPECT(handed(get)(g), PROCS + 4);
    EXPECT(with_spread()(3, &S[0]), 8);
    return failures;
}
