// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static char program[] = "aabcab.";

/* An interpreter whose program is on another processor. */
static int run(const char *global code)
{
    static const void *const go[] = {&&add, &&twice, &&less};
    int value = 0;

next:
    switch (*code) {
    case 'a' ... 'c':
        goto *go[*code++ - 'a'];
    case '.':
        return value;
    default:
        return -1;
    }
add:
    value++;
    goto next;
twice:
    value *= 2;
    goto next;
less:
    value -= 3;
    goto next;
}

int splitc_main(void)
{
    EXPECT(run(toglobal(PROCS - 1, program)), 4);
    EXPECT(run(program + 5), 0 + 0);
    barrier();
    return failures;
}
