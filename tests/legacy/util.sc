/* SPDX-License-Identifier: BSD-3-Clause
 *
 * util.sc - random numbers, complaints, and other small things.
 */
#include "plasma.h"

/* Those that plasma.h only has for inlining. */
double square(double a) { return a * a; }
int modulo(int a, int n) { return (a % n + n) % n; }

static calls_of_uniform;
static double started;

complain(what, file, line)
char *what, *file;
{
    failures++;
    printf("processor %d: %s:%d: %s is wrong\n", MYPROC, file, line, what);
}

/* A generator of small period, the same on all machines. */
next_random()
{
    seed = (int)(((long)seed * 421 + 54773) % 259200);
    return seed;
}

double uniform()
{
    calls_of_uniform++;
    return next_random() / 259200.0;
}

set_seed(s)
{
    int i;

    seed = s;
    for (i = 0; i < 5; i++)
        next_random();
}

double seconds()
{
    if (started == 0)
        started = get_seconds();
    return get_seconds() - started;
}

/* Inline, yet called in other modules as well. */
inline int log2_of(n)
int n;
{
    int k = 0;

    while (1 << k < n)
        k++;
    return k;
}

inline power_of_2(n) { return (n & (n - 1)) == 0; }

double norm(v)
vector v;
{
    return sqrt(square(v.x) + square(v.y));
}

/* All of them tell how they fared; processor 0 sums up. */
report_phase(name, time)
char *name;
double time;
{
    int bad = all_reduce_to_all_add(failures);
    double slowest = all_reduce_to_one_dmax(time);

    phase_name = name;
    on_one if (verbose)
        printf("%-12s %s  %8.3f s\n", name, bad ? "FAILED" : "ok", slowest);
    return bad;
}

/* A block for each number, collectively. */
void *spread make_spread(count, bytes)
{
    void *spread p = all_spread_malloc(count, bytes);

    if (p == NULL) {
        printf("no memory for %d blocks of %d bytes\n", count, bytes);
        exit(1);
    }
    return p;
}

/* Sums by hand, to compare with the library's: everybody puts a number into a
 * spread array, everybody reads them all. */
double sum_by_hand(x)
double x;
{
    double all[PROCS]::, got[PROCS], sum = 0;
    int i;

    all[MYPROC] = x;
    barrier();
    for (i = 0; i < PROCS; i++)
        got[i] := all[i];
    sync();
    for (i = 0; i < PROCS; i++)
        sum += got[i];
    return sum;
}

/* Where among all the numbers of all processors ours begin. */
prefix_by_hand(n)
{
    int counts[PROCS]::, before = 0, i;

    counts[MYPROC] = n;
    barrier();
    for (i = 0; i < PROCS; i++) {
        if (i == MYPROC)
            break;
        before += counts[i];
    }
    barrier();
    return before;
}

/* A message to somebody's mailbox of words, by signalling store. */
post(to, slot, value)
double *spread to;
double value;
{
    double *spread there = to + slot;

    SEND(*there, value);
    transfers++;
}

check_utilities()
{
    int i, n, before;
    double x, *spread box;

    set_seed(1);
    x = uniform();
    CHECK("a random number", x >= 0 && x < 1);
    CHECK("modulo", modulo(-1, 5) == 4 && modulo(7, 5) == 2);
    CHECK("log2_of", log2_of(1) == 0 && log2_of(8) == 3 && log2_of(9) == 4);
    CHECK("power_of_2", power_of_2(64) && !power_of_2(12));
    CHECK("PROCSLOG", power_of_2(PROCS) ? 1 << PROCSLOG == PROCS : PROCSLOG < 0);
    CHECK_CLOSE("sum_by_hand", sum_by_hand(MYPROC + 0.5), all_reduce_to_all_dadd(MYPROC + 0.5));

    n = MYPROC * 3 + 1;
    before = prefix_by_hand(n);
    CHECK("prefix_by_hand", before == all_scan_add(n) - n);

    /* Everyone posts a word to everyone. */
    box = make_spread(PROCS * PROCS, sizeof(double));
    for (i = 0; i < PROCS; i++)
        post(box, i + PROCS * MYPROC, 100.0 * MYPROC + i);
    store_sync(PROCS * sizeof(double));
    for (i = 0; i < PROCS; i++)
        CHECK_CLOSE("a posted word", *(tolocal(box) + i), 100.0 * i + MYPROC);
    barrier();
    all_spread_free(box);
    CHECK("all_bcast", all_bcast(MYPROC + 17) == 17);
    CHECK("the name of a phase", strcmp(phase_name, "none") == 0);
}
