// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include <string.h>
#include "../check.h"

char names[PROCS]::[16];

int splitc_main(void)
{
    char got[16], *mine = tolocal(names[MYPROC]);

    sprintf(mine, "processor %d", MYPROC);
    barrier();
    for (int p = 0; p < PROCS; p++) {
        char wanted[16];
        sprintf(wanted, "processor %d", p);
        bulk_read(got, names[p], sizeof got);
        EXPECT(strcmp(got, wanted), 0);
        EXPECT(names[p][10], '0' + p);
    }
    barrier();
    strcpy((char *)names[MYPROC], "x");
    EXPECT(strlen(tolocal(names[MYPROC])), 1);
    barrier();
    return failures;
}
