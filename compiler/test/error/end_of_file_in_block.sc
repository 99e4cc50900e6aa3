// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

int splitc_main(void)
{
    if (PROCS > 1) {
        barrier();
    return 0;
}
