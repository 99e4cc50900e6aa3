/* SPDX-License-Identifier: BSD-3-Clause
 *
 * many_to_one.sc SECONDS - first one processor writes to processor 0 for so long, then
 * all do: what each gets through tells whether a crowd chokes the receiver, or starves
 * one of itself.
 */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK (64l << 10)

static char inbox[PROCS]::[CHUNK];
static long written[PROCS]::;

/* The chunks that the first `writers` processors behind 0 each got through. */
static void write_for(double seconds, int writers)
{
    static char chunk[CHUNK];
    double end;

    written[MYPROC] = 0;
    barrier();
    end = get_seconds() + seconds;
    while (MYPROC > 0 && MYPROC <= writers && get_seconds() < end) {
        bulk_write(&inbox[0][0], chunk, CHUNK);
        written[MYPROC]++;
    }
    barrier();
}

static void print_written(const char *who)
{
    printf("%s:", who);
    for (int p = 1; p < PROCS; p++)
        printf(" %ld", written[p]);
    printf("\n");
}

int splitc_main(int argc, char *argv[])
{
    double seconds = argc == 2 ? atof(argv[1]) : 0;

    if (seconds <= 0 || PROCS < 2)
        return 2;
    write_for(seconds, 1);
    on_one print_written("one");
    barrier(); /* before they count anew */
    write_for(seconds, PROCS - 1);
    on_one print_written("all");
    return 0;
}
