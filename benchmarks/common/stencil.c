/* SPDX-License-Identifier: BSD-3-Clause
 *
 * stencil.c - the main program of the five-point stencil.
 */
#include "common.h"
#include "npy.h"
#include "random.h"
#include "relax.h"
#include "rows.h"
#include "team.h"

#include <stdlib.h>
#include <string.h>

static struct {
    long rows, columns;
    long steps;
    long seed;
    const char *input;
    const char *output;
} given = {.steps = 100, .seed = 1};

static const struct option_entry options[] = {
    {"rows", OPTION_NUMBER, &given.rows, "N", "rows of the grid (default 1024)"},
    {"columns", OPTION_NUMBER, &given.columns, "N", "columns of the grid (default 1024)"},
    {"input", OPTION_TEXT, &given.input, "FILE", "begin with a .npy file of doubles"},
    {"steps", OPTION_NUMBER, &given.steps, "N", "how often (default 100)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random grid's seed (default 1)"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write the result to a .npy file"},
    {0},
};

/* Some rows of the grid to begin with. */
static double *load_rows(const struct npy *shape, long first, long n)
{
    double *at;

    if (given.input)
        return rows_read(given.input, shape, first, n);
    at = allocate(n * shape->columns * sizeof *at);
    for (long i = 0; i < n * shape->columns; i++)
        at[i] = random_real(given.seed, first * shape->columns + i);
    return at;
}

/* Collective: each processor computes the whole grid and compares its rows. */
static int check(const struct grid *grid, const struct npy *shape, long first, long n)
{
    long columns = grid->columns, bytes = grid->rows * columns * (long)sizeof(double);
    double *from = load_rows(shape, 0, grid->rows), *to = allocate(bytes), *swap;
    int good;

    memcpy(to, from, bytes);
    for (long step = 0; step < given.steps; step++) {
        for (long r = 1; r < grid->rows - 1; r++)
            for (long c = 1; c < columns - 1; c++)
                to[r * columns + c] =
                    0.25 * (from[(r - 1) * columns + c] + from[(r + 1) * columns + c] +
                            (from[r * columns + c - 1] + from[r * columns + c + 1]));
        swap = from;
        from = to;
        to = swap;
    }
    good = memcmp(grid->at, from + first * columns, n * columns * sizeof *from) == 0;
    free(from);
    free(to);
    return (int)team_min(good);
}

int benchmark_main(int argc, char **argv)
{
    struct npy shape;
    struct grid grid;
    struct watch watch = {0};
    long first, n;
    int good;

    parse_options(argc, argv, "Five-point stencil: relaxation of a grid.", options);
    if (given.input && (given.rows || given.columns))
        all_quit(2, "--input and --rows or --columns exclude each other");
    if (given.rows > 1 << 30 || given.columns > 1 << 30)
        all_quit(2, "--rows and --columns are at most %d", 1 << 30);
    shape = (struct npy){given.rows ? given.rows : 1024, given.columns ? given.columns : 1024, 0};
    if (given.input)
        shape = rows_shape(given.input);
    if (shape.rows < 1 || shape.columns < 1)
        all_quit(1, "a grid of %ld x %ld has no points", shape.rows, shape.columns);
    n = block_share(shape.rows, team_rank());
    first = n > 0 ? team_rank() * block_length(shape.rows) : 0;
    grid = (struct grid){shape.rows, shape.columns, NULL};

    while (next_turn(&watch)) {
        free(grid.at);
        grid.at = load_rows(&shape, first, n);
        watch_start(&watch);
        relax(&grid, given.steps, &watch);
    }

    good = !asked.check || check(&grid, &shape, first, n);
    report(&watch, (double)grid.rows * grid.columns * given.steps, "points", good,
           "%ld x %ld points, %ld steps", grid.rows, grid.columns, given.steps);
    if (given.output)
        rows_write(given.output, grid.at, first, n, grid.rows, grid.columns);
    free(grid.at);
    return good ? 0 : 1;
}
