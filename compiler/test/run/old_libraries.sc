// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c/split-c.h>
#include <math.h>
#include <sys/times.h>
#include <time.h>
#include "../check.h"

/* What C libraries of the 1990s had. */
double least = HUGE;

splitc_main()
{
    struct tms t;
    double seconds = times(&t) / (double)CLK_TCK;

    EXPECT(seconds > 0, 1);
    EXPECT(least > 1e300, 1);
    EXPECT(-HUGE < -1e300 ? CLK_TCK : 0, 100);
    return failures;
}
