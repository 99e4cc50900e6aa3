#include <split-c/split-c.h>
#include "../check.h"

/* Names that emitted code might want for itself. */
static int r(int *p, int a)
{
    *p += a;
    return a > 0 ? atomic(r, toglobal(MYPROC, p), a - 1) : *p;
}

static int object(int *arguments, int result)
{
    return *arguments + result;
}

int cell;

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, &cell);

    on_one EXPECT(atomic(r, g, 4), 10);
    barrier();
    EXPECT(atomic(object, g, atomic(object, g, 1)), 21);
    EXPECT((atomic((&object), g, 1), atomic((r), g, 0)), 10);
    barrier();
    return failures;
}
