// flags: -std=gnu89 -Werror=main
// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>

splitc_main(argc, argv) { return argc != 1; }
