// flags: -std=gnu89
// ranks: 1 2
#include <split-c/split-c.h>
#include "../check.h"

// gnu89's extern inline defines nothing for the linker; without -O nothing is inlined.
int before(int x)
{
    return twice(x) + 1;
}

extern inline twice(x)
{
    return 2 * x;
}

inline extern double *spread store(double *spread to, double value)
{
    *to = value;
    return to;
}

extern __inline__ int defined(int x)
{
    return x;
}

int defined(int x)
{
    return x + 100;
}

int (*pointer)() = twice;

splitc_main()
{
    double *spread x = all_spread_malloc(PROCS, sizeof(double));

    EXPECT(before(3), 7);
    EXPECT(pointer(4), 8);
    EXPECT(defined(1), 101);
    barrier();
    EXPECT(*store(x + MYPROC, 2.0), 2);
    barrier();
    all_spread_free(x);
    return failures;
}
