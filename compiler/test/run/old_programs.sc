// flags: -fold-programs
// with: parts/old_programs.c
// ranks: 1 3
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>
#include "../check.h"

int in_common;

/* Leaves something else than zeros where the next function has its variables. */
dirty()
{
    char room[4096];
    volatile char *p = room;
    int i;

    for (i = 0; i < 4096; i++)
        p[i] = 0x5a;
}

free_what_was_never_set()
{
    char *p;

    free(p);
}

sum_of_zeros()
{
    int a[100], i, sum;

    for (i = 0; i < 100; i++)
        sum += a[i];
    return sum;
}

/* As deep as 256 MB. */
deep(n)
{
    char room[1 << 20];

    room[n] = n;
    return n == 0 ? room[0] : deep(n - 1) + (((volatile char *)room)[n] != (char)n);
}

splitc_main()
{
    dirty();
    free_what_was_never_set();
    dirty();
    EXPECT(sum_of_zeros(), 0);
    dirty();
    EXPECT(sum_in_plain_c(), 0);
    EXPECT(deep(255), 0);
    in_common = 5;
    EXPECT(common_in_plain_c(), 5);
    return failures;
}
