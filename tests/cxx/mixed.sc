/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Split-C that calls C++ with its pointers, and gets some back (mixed_part.cc).
 */
#include <split-c/split-c.h>
#include <stdio.h>

struct item {
    int value;
    struct item *global next;
};

double A[2 * PROCS]::;
static struct item mine;

double sum_of(double *spread a, long n);
struct item *global chain(struct item *global first, struct item *global second);

int splitc_main(void)
{
    struct item *global g;
    int sum = 0;

    for (int i = MYPROC; i < 2 * PROCS; i += PROCS)
        A[i] = i;
    mine.value = MYPROC + 1;
    barrier();
    g = chain(toglobal(MYPROC, &mine), toglobal((MYPROC + 1) % PROCS, &mine));
    for (int i = 0; i < 2; i++, g = g->next)
        sum += g->value;
    if (sum != MYPROC + 1 + (MYPROC + 1) % PROCS + 1 || sum_of(A, 2 * PROCS) != PROCS * (2 * PROCS - 1))
        return 1;
    barrier();
    on_one puts("fine");
    return 0;
}
