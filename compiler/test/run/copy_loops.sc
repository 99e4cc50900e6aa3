// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static char there[32];

static int length(const char *global s)
{
    const char *global start = s;

    while (*s)
        s++;
    return s - start;
}

static void copy_out(char *to, const char *global from)
{
    while ((*to++ = *from++))
        ;
}

static void copy_in(char *global to, const char *from)
{
    while ((*to++ = *from++) != '\0')
        ;
}

static int compare(const char *global a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a - *b;
}

int splitc_main(void)
{
    char *global g = toglobal((MYPROC + 1) % PROCS, there), here[32];

    copy_in(g, "carried over");
    barrier();
    EXPECT(length(toglobal(MYPROC, there)), 12);
    EXPECT(length(g), 12);
    copy_out(here, g);
    EXPECT(compare(g, here), 0);
    EXPECT(compare(g, "carried on") != 0, 1);
    EXPECT(here[0] + here[11], 'c' + 'r');
    barrier();
    return failures;
}
