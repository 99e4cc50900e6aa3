/* SPDX-License-Identifier: BSD-3-Clause
 *
 * histogram.sc - all processors throw two dice and count the sums together.
 *
 *   splitcc -O2 histogram.sc -o histogram && unetrun -n 4 ./histogram 1000000
 */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#define SUMS 13

static int total[SUMS]::; /* the bins, spread over the processors */

static void throw_dice(long throws, int count[])
{
    srandom(MYPROC + 1);
    for (long i = 0; i < throws; i++)
        count[2 + random() % 6 + random() % 6]++;
}

static void print_bars(long throws)
{
    for (int sum = 2; sum < SUMS; sum++) {
        int n = total[sum]; /* a read, wherever the bin is */
        printf("%2d %6.2f %% %.*s\n", sum, 100.0 * n / throws, (int)(120.0 * n / throws),
               "####################################");
    }
}

int splitc_main(int argc, char *argv[])
{
    long throws = argc > 1 ? atol(argv[1]) : 100000;
    int count[SUMS] = {0};

    throw_dice(throws, count);
    for (int sum = 2; sum < SUMS; sum++)
        fetch_add(&total[sum], count[sum]); /* atomic at the bin's processor */
    barrier();
    on_one print_bars(throws * PROCS);
    return 0;
}
