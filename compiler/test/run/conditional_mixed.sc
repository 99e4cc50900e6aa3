#include <split-c/split-c.h>
#include "../check.h"

int cells[3];

static int *global pick(int which, int *global g, int *p)
{
    return which == 0 ? g : which == 1 ? p : NULL;
}

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, cells), *p = cells + 1;
    int *spread s = all_spread_malloc(PROCS, sizeof(int)), *spread none = 0;

    cells[0] = 10 + MYPROC;
    cells[1] = 20 + MYPROC;
    s[MYPROC] = MYPROC;
    barrier();
    EXPECT(*pick(0, g, p), 9 + PROCS);
    EXPECT(*pick(1, g, p), 20 + MYPROC);
    EXPECT(pick(2, g, p) == NULL, 1);
    EXPECT((p ? g : 0) == g, 1);
    EXPECT(*(p ? p : g), 20 + MYPROC);
    EXPECT(*(!p ? NULL : g + 1), 19 + PROCS);
    EXPECT((none ? none : s) == s, 1);
    EXPECT((none ?: s)[PROCS - 1], PROCS - 1);
    EXPECT(*(p ? s + PROCS - 1 : 0), PROCS - 1);
    EXPECT(p ? *g : s[0], 9 + PROCS);
    EXPECT(p ? *g + 0.5 : 1, 9 + PROCS);
    EXPECT((p ? (void *global)g : g) == g, 1);
    // A conditional picks an object, not only a value.
    *(MYPROC % 2 ? g : g) = cells[0] == 10 + MYPROC ? 10 + PROCS - 1 : -1;
    barrier();
    EXPECT(cells[0], 10 + MYPROC);
    all_spread_free(s);
    return failures;
}
