// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c/split-c.h>

splitc_main()
{
    int i;

    on_one {
        for (i = 0; i < 3; i++) {
            helper(i);
    }
    barrier();
}

helper(i)
int i;
{
    return i;
}
