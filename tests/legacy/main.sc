/* SPDX-License-Identifier: BSD-3-Clause
 *
 * main.sc - the plasma code checks all that it can do, and ends with how many
 * checks failed.
 */
#include "plasma.h"

/* Tentative, as in the header, and defined only here. */
int verbose;
int failures = 0;
static double *spread totals;

/* Declared by use alone: check_matrices, check_solver and all the others. */
static run(name, check, a, b)
char *name;
int (*check)();
{
    double begun = seconds();

    (*check)(a, b);
    barrier();
    report_phase(name, seconds() - begun);
}

static options(argc, argv)
char **argv;
{
    int first = 4711;

    while (--argc > 0) {
        ++argv;
        if (strcmp(*argv, "-v") == 0)
            verbose = 1;
        else if (atoi(*argv) > 0)
            first = atoi(*argv);
        else
            usage();
    }
    return first;
}

/* What everyone knows of everyone, after all. */
static check_totals()
{
    double *spread p;
    int i;

    totals = make_spread(PROCS, sizeof(double));
    totals[MYPROC] = transfers;
    barrier();
    mailbox = &totals[LEFT];
    CHECK_CLOSE("the neighbour's total", *mailbox, *(double *global)(totals + LEFT));
    for (p = totals + (PROCS - 1), i = PROCS - 1; i >= 0; i--, p--)
        CHECK("a step back", p - totals == i && *p >= 0);
    CHECK("all of them", all_reduce_to_all_dadd(totals[MYPROC]) >= transfers);
    barrier();
    all_spread_free(totals);
}

extern check_matrices(), check_solver(), check_transform(), check_forces(), check_wave();
extern check_charge(), check_exchange(), check_texts(), check_utilities();

splitc_main(argc, argv)
int argc;
char **argv;
{
    double energy;

    phase_name = "none";
    set_seed(options(argc, argv));
    on_one if (verbose)
        printf("%s", banner());
    run("texts", check_texts);
    phase_name = "none";
    run("utilities", check_utilities);
    run("matrices", check_matrices, 5, BLOCK);
    run("one block", check_matrices, 1, BLOCK + 1);
    run("potential", check_solver);
    run("transform", check_transform, 8);
    run("wave", check_wave);
    make_particles(PARTICLES);
    energy = total_energy();
    run("forces", check_forces);
    run("exchange", check_exchange);
    run("charge", check_charge);
    CHECK_CLOSE("the energy", total_energy(), energy);
    run("totals", check_totals);
    if (verbose)
        print_loads();
    barrier();
    return all_reduce_to_all_add(failures) != 0;
}
