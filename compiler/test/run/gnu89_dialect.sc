// flags: -std=gnu89
#include <split-c/split-c.h>
#include "../check.h"

static counter;      /* implicit int */
int tentative;
int tentative;
const limit = 5;

extern inline int twice(int x)
{
    return 2 * x;
}

int twice(int x)
{
    return 2 * x;
}

int early();

bump(by)
{
    counter += by;
}

no_return(int unused)
{
    if (unused)
        return 3;
}

static void set(x) register x;
{
    tentative = x;
}

main_part(register n)
{
    auto i, total = 0;
    for (i = 0; i < n; i++)
        total += i;
    return total;
}

splitc_main()
{
    bump(3);
    bump(4);
    set(9);
    EXPECT(counter, 7);
    EXPECT(tentative, 9);
    EXPECT(twice(limit), 10);
    EXPECT(early(4), 16);
    EXPECT(main_part(5), 10);
    EXPECT(no_return(1), 3);
    if (failures)
        splitc_exit(1);
    barrier();
}

early(x)
int x;
{
    return square(x);
}

extern inline int square(int x)
{
    return x * x;
}
int square(int x)
{
    return x * x;
}
