// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <stdlib.h>
#include "../check.h"

struct text { int length; char bytes[]; };
static struct text *global everyone[PROCS]::;

int splitc_main(void)
{
    struct text *mine = malloc(sizeof *mine + 8), *global other;

    mine->length = MYPROC + 2;
    for (int i = 0; i < mine->length; i++)
        mine->bytes[i] = 'a' + i;
    everyone[MYPROC] = mine;
    barrier();
    other = everyone[PROCS - 1];
    EXPECT(other->length, PROCS + 1);
    EXPECT(other->bytes[other->length - 1], 'a' + PROCS);
    EXPECT(&other->bytes[1] - other->bytes, 1);
    EXPECT(sizeof *other, sizeof(int));
    barrier();
    free(mine);
    return failures;
}
