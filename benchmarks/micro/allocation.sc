/* SPDX-License-Identifier: BSD-3-Clause
 *
 * allocation.sc MILLISECONDS - getting memory and giving it back.
 */
#include "measure.h"

#include <split-c/split-c.h>
#include <stdlib.h>

enum { SMALL = 64, SPREAD = 1 << 16 };

static double mallocs(long n)
{
    double start = now_ns();

    for (long i = 0; i < n; i++) {
        char *volatile block = malloc(SMALL);
        free(block);
    }
    return now_ns() - start;
}

static double spread_mallocs(long n)
{
    double start;

    barrier();
    start = now_ns();
    for (long i = 0; i < n; i++)
        all_spread_free(all_spread_malloc(PROCS, SPREAD));
    return now_ns() - start;
}

int splitc_main(int argc, char **argv)
{
    struct team team = {MYPROC == 0, 0, all_bcast_d, budget_of(argc > 1 ? argv[1] : "100")};

    measure(&team, "malloc", 1, mallocs, 0);
    measure(&team, "spread_malloc", 1, spread_mallocs, 0);
    return 0;
}
