// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tgmath.h>
#include "../check.h"

static struct { double d; char c; int n; char text[8]; } there = {2.25, 'q', -3, "42"};

/* What libc's headers make of a read: builtins, tables, generic selections. */
int splitc_main(void)
{
    __typeof__(there) *global g = toglobal(PROCS - 1, &there);
    char here[8];

    assert(g->n == -3);
    EXPECT(toupper(g->c), 'Q');
    EXPECT(!!isalpha(g->c) + !!isdigit(g->c), 1);
    EXPECT(2 * sqrt(g->d), 3);
    EXPECT(isnan(g->d) || isinf(g->d) || signbit(g->d), 0);
    EXPECT(abs(g->n), 3);
    errno = g->n;
    EXPECT(errno, -3);
    for (int i = 0; i < 8; i++)
        here[i] = g->text[i];
    EXPECT(atoi(here) + strlen(here), 44);
    EXPECT(memcmp(here, tolocal(g)->text, 3), 0);
    EXPECT(__builtin_expect(g->n, 1), -3);
    EXPECT(strchr(here, *(g->text + 1)) - here, 1);
    EXPECT(*(char *)memset(here, g->c, 1), 'q');
    barrier();
    return failures;
}
