// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c.h>
#include <split-c/split-c.h> /* once more */
#include "control.h"
#include "com.h"
#include "../check.h"

splitc_main()
{
    int value = MYPROC + 1, sum = all_reduce_to_all_add(value);

    EXPECT(sum, PROCS * (PROCS + 1) / 2);
    barrier();
    return failures;
}
