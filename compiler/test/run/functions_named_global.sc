#include <split-c/split-c.h>
#include "../check.h"

static int spread(int x)
{
    return x + 1;
}

static int global(int x)
{
    return 2 * x;
}

int splitc_main(void)
{
    int x = 3, *p = &x;

    EXPECT(spread(3) * global(2), 16);
    EXPECT(x *global(5), 30);
    EXPECT(*p *spread(1), 6);
    EXPECT(sizeof(int) *spread(1), 8);
    EXPECT((x)*global(1), 6);
    return failures;
}
