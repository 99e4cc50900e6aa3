// SPDX-License-Identifier: BSD-3-Clause
// flags: -Werror=int-conversion
#include <split-c/split-c.h>

int splitc_main(void)
{
    int *spread p = all_spred_malloc(PROCS, sizeof(int));
    int *global g = find(p);
    return *p + *g;
}
