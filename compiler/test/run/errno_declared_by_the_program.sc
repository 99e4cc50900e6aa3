// flags: -std=gnu89
#include <split-c/split-c.h>
#include <stdio.h>
#include "../check.h"

extern int errno;
extern int errno;

opened(name)
char *name;
{
    return fopen(name, "r") != NULL;
}

in_a_block(n)
{
    extern int errno;
    int seen = errno;

    errno = n;
    return seen;
}

splitc_main()
{
    int *global g = &errno;
    int old;

    errno = 0;
    EXPECT(opened("/there/is/no/such/file"), 0);
    EXPECT(errno, 2);
    EXPECT(*g, 2);
    old := *g;
    sync();
    EXPECT(old, 2);
    EXPECT(in_a_block(7), 2);
    EXPECT(errno++ + errno, 15);
    return failures;
}
