// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
#include <split-c/split-c.h>

splitc_main(argc, argv)
char *global *argv;
{
    return argc > 1;
}
