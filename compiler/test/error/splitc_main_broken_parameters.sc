// SPDX-License-Identifier: BSD-3-Clause
// flags: -std=gnu89
splitc_main(argc, argv)
int argc, char **argv;
{
    return argc > 5;
}
