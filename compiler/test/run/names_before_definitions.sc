// flags: -std=gnu89 -w
// not with clang, which knows no variable of the name of one of its functions
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions are used before they are defined: they turn out to be static, or to return something
// else than int; and some have the names of functions that system headers declare today.
#include <split-c/split-c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include "../check.h"

extern char *malloc(), *getenv();
int index();
extern char *sprintf();
int printf();

struct node {
    int value;
    struct node *next;
};

int log2(n) int n;
{
    int k = 0;

    while ((n /= 2) > 0)
        k++;
    return k;
}

static int getline(line, most) char *line; int most;
{
    line[0] = '\0';
    return most;
}

char *strchr(s, c) char *s; int c; { return s; }

int round = 7;

count() { extern int counter; return ++counter; }
static int counter;

int first()
{
    int later();
    static int inner();

    return later(3) + inner(2);
}

static later(x) { return x; }
static int inner(x) int x; { return x; }

int logs[PROCS]::;

splitc_main()
{
    struct node *p;
    char line[10];

    EXPECT(helper(2), 2);
    p = (struct node *)new_node(3);
    EXPECT(p->value, 3);
    logs[MYPROC] = log2(1024);
    barrier();
    EXPECT(logs[PROCS - 1], 10);
    EXPECT(getline(line, 7), 7);
    EXPECT(first(), 5);
    EXPECT((int)(half(3.0) * 2), 3);
    EXPECT(round, 7);
    EXPECT(index(3, 4), 34);
    EXPECT(count() + count() + counter, 5);
    EXPECT(*strchr("string", 'g'), 's');
    sprintf(line, "%d", 35);
    EXPECT(line[1], '5');
    return failures;
}

static helper(x) { return x; }

struct node *new_node(n)
{
    struct node *p = (struct node *)malloc(sizeof(*p));

    p->value = n;
    return p;
}

double half(x) double x; { return x / 2; }

int index(tens, ones) int tens, ones; { return 10 * tens + ones; }
