// SPDX-License-Identifier: BSD-3-Clause
int splitc_main(int argc, char **argv, char **environment, char **apple)
{
    return argc + argv[0][0] + environment[0][0] + apple[0][0];
}
