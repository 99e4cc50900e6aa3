#include <split-c/split-c.h>
#include "../check.h"

// What follows a designator of several steps goes on where that one ended.
struct inner {
    int n : 8, : 0;
    int *global g;
    int *local;
};
struct outer {
    struct inner a[2];
    struct {
        int k;
        union {
            int *global u;
            long bits;
        };
    };
    int *last;
};
struct pair {
    struct inner first, second;
};

int value = 3;

int splitc_main(void)
{
    struct inner one = {1, &value, &value};
    struct outer deep = {.a[0].g = &value, &value, 2, &value, &value, 4, &value, &value};
    struct outer inside = {.a[1].n = 5, &value, .u = &value, &value};
    struct outer rows[] = {[1].a[1] = {6, &value}, 7, &value, &value, {{{8}}}, [0].last = &value};
    struct pair whole = {.first = one, one};
    int *global list[] = {[1] = &value, &value};

    EXPECT(*deep.a[0].g + *deep.a[0].local, 6);
    EXPECT(deep.a[1].n, 2);
    EXPECT(*deep.a[1].g + *deep.a[1].local, 6);
    EXPECT(deep.k + *deep.u + *deep.last, 10);
    EXPECT(inside.a[1].n + *inside.a[1].g + *inside.u + *inside.last, 14);
    EXPECT(rows[1].a[1].n + *rows[1].a[1].g + rows[1].k + *rows[1].u + *rows[1].last, 22);
    EXPECT(rows[2].a[0].n + *rows[0].last, 11);
    EXPECT(*whole.second.g + *whole.second.local, 6);
    EXPECT(list[0] == NULL && *list[1] + *list[2] == 6, 1);
    return failures;
}
