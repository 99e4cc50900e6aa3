// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

void f(int *global g, int *spread s)
{
    all_spread_free(g);
    all_spread_free((int *spread)g);
    all_spread_free(s);
}
