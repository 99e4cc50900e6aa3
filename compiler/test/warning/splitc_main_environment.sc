// SPDX-License-Identifier: BSD-3-Clause
int splitc_main(int argc, char **argv, int environment)
{
    return argc + argv[0][0] + environment;
}
