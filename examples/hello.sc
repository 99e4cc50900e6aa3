/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hello.sc - one line from every processor.
 *
 *   splitcc -O2 hello.sc -o hello && unetrun -n 4 ./hello
 */
#include <split-c/split-c.h>
#include <stdio.h>

int splitc_main(int argc, char *argv[])
{
    printf("hello from processor %d of %d\n", MYPROC, PROCS);
    return 0;
}
