/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ring.sc - a token goes round all processors by signalling stores.
 *
 *   splitcc -O2 ring.sc -o ring && unetrun -n 4 ./ring 1000
 */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

static long token[PROCS]::; /* element p is on processor p */

/* A store does not wait: its bytes are counted where they land. */
static void pass_on(long value)
{
    token[(MYPROC + 1) % PROCS] :- value;
}

/* Wait until a token's bytes have been stored into this processor. */
static long take(void)
{
    store_sync(sizeof(long));
    return token[MYPROC];
}

int splitc_main(int argc, char *argv[])
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    double start;

    barrier();
    start = get_seconds();
    for (long i = 0; i < rounds; i++) {
        if (MYPROC == 0) {
            pass_on(1);
            take();
        } else {
            pass_on(take() + 1);
        }
    }
    on_one printf("the token counted %ld processors in each of %ld rounds, %.2f us a hop\n",
                  token[0], rounds, (get_seconds() - start) / rounds / PROCS * 1e6);
    return 0;
}
