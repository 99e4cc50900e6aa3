// flags: -std=gnu89 -w
// SPDX-License-Identifier: BSD-3-Clause
//
// A return without a value ends splitc_main as falling off its end does.
#include <split-c/split-c.h>

fortytwo() { return 42; }

splitc_main(argc, argv)
{
    if (fortytwo())
        return;
    return 1;
}
