// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <string.h>
#include "../check.h"

struct item { char tag; short s; float f; double d; char name[8]; long l; } item;

int splitc_main(void)
{
    struct item *global g = toglobal(PROCS - 1, &item);
    char text[100], here[8];

    item = (struct item){'a' + MYPROC, -7, 1.5f, 2.25, "name", 1L << 40};
    barrier();
    bulk_read(here, g->name, sizeof here);
    sprintf(text, "%c %d %g %g %s %ld %p", g->tag, g->s, g->f, g->d, here, g->l, (void *)0);
    EXPECT(strncmp(text + 1, " -7 1.5 2.25 name 1099511627776", 30), 0);
    EXPECT(text[0], 'a' + PROCS - 1);
    barrier();
    return failures;
}
