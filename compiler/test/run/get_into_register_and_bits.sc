#include <split-c/split-c.h>
#include "../check.h"

int cell;
struct bits {
    unsigned low : 3, high : 13;
} there;

// A target without an address, or of another type, still gets the value.
int splitc_main(void)
{
    register int r;
    register double d;
    struct bits here = {0, 0};
    short narrow;
    long wide;
    char flag;
    _Bool truth;
    unsigned u;

    cell = 70 + MYPROC;
    there.high = 4000 + MYPROC;
    there.low = 5;
    barrier();
    int *global g = toglobal(PROCS - 1, &cell);
    struct bits *global s = toglobal(PROCS - 1, &there);
    r := *g;
    d := *g;
    here.low := *g;
    here.high := s->high;
    narrow := *g;
    wide := *g;
    flag := *g;
    truth := *g;
    u := s->high;
    (r) := *g;
    sync();
    EXPECT(r, 69 + PROCS);
    EXPECT(d, 69 + PROCS);
    EXPECT(here.low, (69 + PROCS) % 8);
    EXPECT(here.high, 3999 + PROCS);
    EXPECT(narrow, 69 + PROCS);
    EXPECT(wide, 69 + PROCS);
    EXPECT(flag, 69 + PROCS);
    EXPECT(truth, 1);
    EXPECT(u, 3999 + PROCS);
    barrier();
    return failures;
}
