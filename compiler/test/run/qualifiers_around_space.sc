#include <split-c/split-c.h>
#include "../check.h"

int value;

int splitc_main(void)
{
    int *const global before = toglobal(MYPROC, &value);
    int *global const after = before;
    int *volatile global const both = before;
    const int *const global restrict all = before;
    int *const spread none = 0;

    value = 6;
    EXPECT(*before + *after + *both + *all, 24);
    EXPECT(none == NULL, 1);
    *after = 7;
    EXPECT(value, 7);
    return failures;
}
