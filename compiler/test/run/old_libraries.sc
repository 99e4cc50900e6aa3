// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c/split-c.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/times.h>
#include <time.h>
#include "../check.h"

/* What C libraries of the 1990s had. */
extern int sys_nerr;
extern char *sys_errlist[];

double least = HUGE;

splitc_main()
{
    struct tms t;
    double seconds = times(&t) / (double)CLK_TCK;

    EXPECT(seconds > 0, 1);
    EXPECT(least > 1e300, 1);
    EXPECT(-HUGE < -1e300 ? CLK_TCK : 0, 100);
    EXPECT(sys_nerr > ENOENT, 1);
    EXPECT(strcmp(sys_errlist[ENOENT], strerror(ENOENT)), 0);
    return failures;
}
