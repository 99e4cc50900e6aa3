// SPDX-License-Identifier: BSD-3-Clause
// ranks: 2
#include <split-c/split-c.h>
#include "../check.h"

/* How far a global pointer is into a local array: the local one is (MYPROC, address), as where both
 * are compared. */

static double row[8];
static char text[] = "key=value";

static char *global find(char *global s, int c)
{
    while (*s && *s != c)
        s++;
    return s;
}

int splitc_main(void)
{
    double *global g = toglobal(MYPROC, &row[5]);
    double *p = row + 1;
    void *global v = g;

    EXPECT(g - row, 5);
    EXPECT(row - g, -5);
    EXPECT(g - p, 4);
    EXPECT(p++ - g, -4);
    EXPECT(p - row, 2);
    EXPECT(g - &row[7], -2);
    EXPECT(find(text, '=') - text, 3);
    EXPECT((double *global)v - (const double *)row, 5);
    for (g = row; g - row < 8; g++)
        *g = g - row;
    EXPECT((int)row[7], 7);
    return failures;
}
