#include <split-c/split-c.h>
#include "../check.h"

// NULL stays NULL whichever processor converts it, also at run time.
static int *later(int *p)
{
    return p;
}

static int *global widen(int *p)
{
    return p;
}

int splitc_main(void)
{
    volatile int zero = 0;
    int *none = later(0), some;
    int *global g = later(0);

    EXPECT(g == NULL, 1);
    EXPECT(widen(0) == NULL, 1);
    EXPECT(widen(none) == NULL, 1);
    EXPECT(widen(zero ? &some : 0) == NULL, 1);
    EXPECT(toproc(widen(&some)), MYPROC);
    EXPECT((long)(splitc_ptr)widen(none), 0);
    return failures;
}
