/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rounds.sc PHASES SECONDS FOLDER - every processor writes to the next, which checks what has come,
 * round after round.  Phases of so many seconds follow one another; FOLDER/phase tells which one it
 * is.  At the end the rounds of each phase are told, and how many words were wrong.
 */
#include <split-c/split-c.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 2048
#define ROUNDS 8 /* between two looks at the clock */

static long inbox[PROCS]::[WORDS];
static long sent[WORDS];
static double wrong;

static long word(int from, long round, long i)
{
    return (from + 1) * 1000003 + round * 7919 + i;
}

static void exchange(long round)
{
    const int next = (MYPROC + 1) % PROCS, previous = (MYPROC + PROCS - 1) % PROCS;
    long *came = (long *)&inbox[MYPROC][0];

    for (long i = 0; i < WORDS; i++)
        sent[i] = word(MYPROC, round, i);
    bulk_write(&inbox[next][0], sent, sizeof sent);
    barrier();
    for (long i = 0; i < WORDS; i++)
        wrong += came[i] != word(previous, round, i);
    barrier();
}

static void tell_phase(const char *folder, int phase)
{
    char name[4096], other[4096];
    FILE *file;

    snprintf(name, sizeof name, "%s/phase", folder);
    snprintf(other, sizeof other, "%s/phase.new", folder);
    file = fopen(other, "w");
    if (!file || fprintf(file, "%d\n", phase) < 0 || fclose(file) != 0 || rename(other, name) != 0) {
        perror(other);
        exit(1);
    }
}

static long rounds_for(double seconds, long first)
{
    const double end = get_seconds() + seconds;
    long round = first;

    while (all_bcast_i(get_seconds() < end)) {
        for (int i = 0; i < ROUNDS; i++)
            exchange(round++);
    }
    return round - first;
}

int splitc_main(int argc, char *argv[])
{
    const int phases = argc == 4 ? atoi(argv[1]) : 0;
    long rounds = 0;

    if (phases < 1)
        return 2;
    for (int phase = 0; phase < phases; phase++) {
        on_one tell_phase(argv[3], phase);
        const long more = rounds_for(atof(argv[2]), rounds);

        on_one printf("phase: %d %ld\n", phase, more);
        rounds += more;
    }
    wrong = all_reduce_to_one_dadd(wrong);
    on_one printf("wrong: %.0f of %ld\n", wrong, rounds * WORDS * PROCS);
    return 0;
}
