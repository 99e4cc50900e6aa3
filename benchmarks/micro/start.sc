/* SPDX-License-Identifier: BSD-3-Clause
 *
 * start.sc - a program that only starts and ends.
 */
#include <split-c/split-c.h>

int splitc_main(int argc, char **argv)
{
    return 0;
}
