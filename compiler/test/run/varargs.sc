// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89 -O3
// not with clang
#include <split-c/split-c.h>
#include <stdio.h>
#include <string.h>
#include <varargs.h>
#include "../check.h"

void report();

static char text[200];

/* All callers pass the same first argument, which the C compiler must not leave out. */
static sum(va_alist)
va_dcl
{
    va_list numbers;
    int n, all = 0;

    va_start(numbers);
    for (n = va_arg(numbers, int); n > 0; n--)
        all += va_arg(numbers, int);
    va_end(numbers);
    return all;
}

static double weighed(va_alist)
va_dcl
{
    va_list pairs;
    double all = 0;
    int weight;

    va_start(pairs);
    while ((weight = va_arg(pairs, int)) != 0)
        all += weight * va_arg(pairs, double);
    va_end(pairs);
    return all;
}

void report(va_alist)
va_dcl
{
    va_list arguments;
    char *format;

    va_start(arguments);
    format = va_arg(arguments, char *);
    vsprintf(text, format, arguments);
    va_end(arguments);
}

/* A list may be gone through twice. */
char *twice(va_alist) va_dcl
{
    va_list list;
    char *word;
    int turn;

    text[0] = '\0';
    for (turn = 0; turn < 2; turn++) {
        va_start(list);
        while (word = va_arg(list, char *))
            strcat(text, word);
        va_end(list);
    }
    return text;
}

static int far_one(va_alist) va_dcl
{
    va_list list;
    int *global from;

    va_start(list);
    from = va_arg(list, int *global);
    va_end(list);
    return *from;
}

int numbers[PROCS]::;

splitc_main()
{
    numbers[MYPROC] = 10 * MYPROC;
    barrier();
    EXPECT(sum(10, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10), 55);
    EXPECT(sum(10, 10, 9, 8, 7, 6, 5, 4, 3, 2, PROCS), 54 + PROCS);
    EXPECT((int)weighed(1, 1., 2, 2., 3, 3., 4, 4., 5, 5., 6, 6., 7, 7., 8, 8., 9, 9., 10, 10., 0), 385);
    report("%s %d %g %c %ld %s %d %d %d %g", "a", 1, 2.5, 'x', 1L << 40, "b", 3, 4, 5, -1.5f);
    EXPECT(strcmp(text, "a 1 2.5 x 1099511627776 b 3 4 5 -1.5"), 0);
    EXPECT(strcmp(twice("a", "b", "c", "d", "e", "f", "g", "h", (char *)0), "abcdefghabcdefgh"), 0);
    EXPECT(far_one(toglobal(PROCS - 1, tolocal(&numbers[MYPROC]))), 10 * (PROCS - 1));
    return failures;
}
