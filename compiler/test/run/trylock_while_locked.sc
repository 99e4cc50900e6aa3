// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static int lock;

int splitc_main(void)
{
    int *global l = toglobal(0, &lock);

    on_one EXPECT(splitc_trylock(l), 1);
    barrier();
    EXPECT(splitc_trylock(l), 0);
    barrier();
    on_one splitc_unlock(l);
    barrier();
    EXPECT(all_reduce_to_all_add(splitc_trylock(l) != 0), 1);
    return failures;
}
