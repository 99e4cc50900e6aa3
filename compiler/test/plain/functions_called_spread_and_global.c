// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

static char *spread(int n);
static int *global(void);

static int number = 3;

static char *spread(n)
{
    static char text[4];
    sprintf(text, "%d", n);
    return text;
}

static int *global(void) { return &number; }

int main(void)
{
    return printf("%s %d\n", spread(12), *global()) != 5;
}
