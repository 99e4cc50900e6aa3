// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static const int primes[] = {2, 3, 5, 7};
static const char *const words[] = {"zero", "one"};

int splitc_main(void)
{
    const int *global p = toglobal(PROCS - 1, primes);
    const char *const *global w = toglobal(PROCS - 1, words);
    const char *global s = toglobal(PROCS - 1, "literal");
    int sum = 0;

    for (const int *global q = p; q < p + 4; q++)
        sum += *q;
    EXPECT(sum, 17);
    EXPECT(w[1][0], 'o');
    EXPECT(s[2], 't');
    EXPECT(*(p + *p), 5);
    barrier();
    return failures;
}
