/* SPDX-License-Identifier: BSD-3-Clause
 *
 * fft.c - the main program of the Fourier transform.
 */
#include "common.h"
#include "fourier.h"
#include "random.h"
#include "rows.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>

#define UNSET (-1)
#define LOG_MAX 40

static struct {
    long log2;
    long seed;
    const char *input;
    const char *output;
} given = {.log2 = UNSET, .seed = 1};

static const struct option_entry options[] = {
    {"log2", OPTION_NUMBER, &given.log2, "N", "2^N random complex numbers (default 20)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random numbers' seed (default 1)"},
    {"input", OPTION_TEXT, &given.input, "FILE", "a .npy file of 2^N x 2 doubles"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write the transform to a .npy file"},
    {0},
};

/* ---- the signal -------------------------------------------------------------------------- */

static long log2_of(const char *file, long n)
{
    long log2 = 0;

    while (1l << log2 < n)
        log2++;
    if (1l << log2 != n)
        all_quit(1, "%s: it has %ld rows; a transform has a power of two", file, n);
    return log2;
}

static long choose_log2(struct npy *shape)
{
    if (given.input && given.log2 != UNSET)
        all_quit(2, "--log2 and --input exclude each other; give one of them");
    if (given.log2 > LOG_MAX)
        all_quit(2, "--log2 is from 0 to %d, not %ld", LOG_MAX, given.log2);
    if (!given.input)
        return given.log2 != UNSET ? given.log2 : 20;
    *shape = rows_shape(given.input);
    if (shape->columns != 2)
        all_quit(1, "%s: it has %ld columns; complex numbers have 2", given.input, shape->columns);
    return log2_of(given.input, shape->rows);
}

/* This processor's n numbers, from number `first` on. */
static struct complex *load(const struct npy *shape, long first, long n)
{
    struct complex *at;

    if (given.input)
        return (struct complex *)rows_read(given.input, shape, first, n);
    at = allocate(n * sizeof *at);
    for (long i = 0; i < n; i++)
        at[i] = (struct complex){random_real(given.seed, 2 * (first + i)),
                                 random_real(given.seed, 2 * (first + i) + 1)};
    return at;
}

/* ---- the check ------------------------------------------------------------------------------ */

#define PROBES 8

/* Some numbers, and where they lie in the whole. */
struct part {
    const struct complex *at;
    long first, n;
};

/* Element k of the transform, by the definition. */
static struct complex element(const struct part *signal, long k, long n)
{
    struct complex sum = {0, 0};

    for (long i = 0; i < signal->n; i++) {
        unsigned long turns = (unsigned long)(signal->first + i) * k % n;
        struct complex term = times(signal->at[i], root_of_unity(turns, n));

        sum.re += term.re;
        sum.im += term.im;
    }
    return (struct complex){team_sum(sum.re), team_sum(sum.im)};
}

static double energy(const struct part *part)
{
    double sum = 0;

    for (long i = 0; i < part->n; i++)
        sum += part->at[i].re * part->at[i].re + part->at[i].im * part->at[i].im;
    return team_sum(sum);
}

/* Collective: some elements by the definition, and all of them by Parseval's theorem. */
static int check(const struct part *signal, const struct part *spectrum, long n)
{
    double expected = n * energy(signal), found = energy(spectrum), size = sqrt(expected);
    int good = fabs(found - expected) <= 1e-9 * expected;

    for (long probe = 0; probe < PROBES; probe++) {
        long k = (long)(random_at(given.seed + 1, probe) % n);
        struct complex right = element(signal, k, n);

        if (k < spectrum->first || k >= spectrum->first + spectrum->n)
            continue;
        good &= fabs(spectrum->at[k - spectrum->first].re - right.re) <= 1e-9 * size;
        good &= fabs(spectrum->at[k - spectrum->first].im - right.im) <= 1e-9 * size;
    }
    return (int)team_min(good);
}

/* ---- the program -------------------------------------------------------------------------- */

/* This processor's part of rows x columns numbers. */
static struct part part_of(const struct complex *at, long rows, long columns)
{
    long mine = block_share(rows, team_rank());

    return (struct part){at, mine > 0 ? team_rank() * block_length(rows) * columns : 0,
                         mine * columns};
}

int benchmark_main(int argc, char **argv)
{
    struct npy shape = {0};
    struct signal signal;
    struct part in, out;
    struct complex *result;
    struct watch watch = {0};
    long log2, n;
    int good;

    parse_options(argc, argv, "Fourier transform of complex numbers, in one dimension.", options);
    log2 = choose_log2(&shape);
    n = 1l << log2;
    signal = (struct signal){1l << log2 / 2, 1l << (log2 - log2 / 2), NULL};
    in = part_of(NULL, signal.rows, signal.columns);
    in.at = signal.at = load(&shape, in.first, in.n);
    out = part_of(NULL, signal.columns, signal.rows);
    out.at = result = allocate(out.n * sizeof *result);

    while (next_turn(&watch)) {
        watch_start(&watch);
        transform(&signal, result, &watch);
    }

    good = !asked.check || check(&in, &out, n);
    report(&watch, 5.0 * n * log2, "flops", good, "%ld complex numbers", n);
    if (given.output)
        rows_write(given.output, (const double *)result, out.first, out.n, n, 2);
    free(signal.at);
    free(result);
    return good ? 0 : 1;
}
