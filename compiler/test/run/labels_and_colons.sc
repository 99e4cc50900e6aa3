#include <split-c/split-c.h>
#include "../check.h"

int cell;
static int negated;

static int neg(int x)
{
    return negated = -x;
}

int splitc_main(void)
{
    int *global g = &cell;
    int a = 1, b = 2, x;

    goto done;
skipped:
    -neg(1);
done:-neg(2);
    EXPECT(negated, -2);
    switch (b) {
    case 2:-neg(3);
        break;
    default:-neg(4);
    }
    EXPECT(negated, -3);
    x = a ? b :-1;
    EXPECT(x, 2);
    x = a ? b ? 5 :-1 :-2;
    EXPECT(x, 5);
    *g :- a ? b :-1;
    store_sync(sizeof(int));
    EXPECT(cell, 2);
    (a ? *g :-1);
    *(a ? g :(int *global)0) :-b;
    store_sync(sizeof(int));
    EXPECT(cell, -0 + b);
    switch (x) {
    case 5: *g :- 8;
    }
    store_sync(sizeof(int));
    EXPECT(cell, 8);
again:
    x := *g;
    sync();
    if (--*g > 6)
        goto again;
    EXPECT(x, 7);
    struct { int w:3, :2, v:-1 + 4; } f = {w: 1, v: 2};
    EXPECT(f.w + f.v, 3);
    return failures;
}
