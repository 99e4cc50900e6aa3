// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int flag;

int splitc_main(void)
{
    int lost = test_and_set(toglobal(PROCS - 1, &flag));

    EXPECT(all_reduce_to_all_add(!lost), 1);
    EXPECT(test_and_set(toglobal(PROCS - 1, &flag)) != 0, 1);
    barrier();
    return failures;
}
