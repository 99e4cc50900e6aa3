// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

char *spread[10], *global = "global";
int (*function)(char *(global[]), int), *(*table[2])(void);
struct names {
    char *spread[3], *(*global)(char *(spread[]));
    int *global_count __attribute__((aligned(16)));
    char *spread_count;
};

static int number = 7;

static int *count(void) { return &number; }

static char *first(char *spread[]) { return spread[0]; }

static int length(char *global[], int n)
{
    int i, *spread __attribute__((unused));
    for (i = 0; i < n && global[i]; i++)
        ;
    return i;
}

static char *last(spread, n)
char *spread[];
int n;
{
    return spread[n - 1];
}

static int local(void)
{
    char *(*global), *both[2] = {"a", "b"};
    global = both;
    {
        int global = 1, spread = 2;
        int *global_pointer = &global, product = global * spread;
        return product + *global_pointer + (int)sizeof(spread) * 0;
    }
}

int main(void)
{
    struct names n = {{"x", "y", "z"}, first, count(), "s"};
    spread[0] = "zero", spread[1] = "one";
    function = length;
    table[0] = count;
    printf("%s %d %d %s %d %s\n", n.global(n.spread), function(spread, 10), *table[0](),
           last(spread, 2), local(), global);
    return 0;
}
