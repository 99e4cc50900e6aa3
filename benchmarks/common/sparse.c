/* SPDX-License-Identifier: BSD-3-Clause */
#include "sparse.h"

#include "common.h"
#include "team.h"
#include <limits.h>
#include <stdlib.h>

void add_entry(struct entries *entries, long row, long column, double value)
{
    if (entries->n == entries->room) {
        entries->room = entries->room ? 2 * entries->room : 1024;
        entries->at = reallocate(entries->at, entries->room * sizeof *entries->at);
    }
    entries->at[entries->n++] = (struct entry){row, column, value};
}

/* ---- ghosts --------------------------------------------------------------------------- */

static int compare_longs(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;

    return (x > y) - (x < y);
}

static void find_ghosts(struct sparse *a, const struct entries *entries, long first)
{
    long n = 0, kept = 0;

    a->ghost = allocate(entries->n * sizeof *a->ghost);
    for (long e = 0; e < entries->n; e++)
        if (entries->at[e].column < first || entries->at[e].column >= first + a->own)
            a->ghost[n++] = entries->at[e].column;
    qsort(a->ghost, n, sizeof *a->ghost, compare_longs);
    for (long i = 0; i < n; i++)
        if (i == 0 || a->ghost[i] != a->ghost[kept - 1])
            a->ghost[kept++] = a->ghost[i];
    a->ghosts = kept;
    a->ghost = reallocate(a->ghost, kept * sizeof *a->ghost);
}

static void find_runs(struct sparse *a, long block)
{
    a->run = allocate(a->ghosts * sizeof *a->run);
    for (long g = 0; g < a->ghosts; g++) {
        struct run *last = &a->run[a->runs - 1];
        long processor = a->ghost[g] / block, place = a->ghost[g] % block;

        if (g > 0 && last->processor == processor && last->place + last->n == place)
            last->n++;
        else
            a->run[a->runs++] = (struct run){(int)processor, place, 1};
    }
}

/* ---- making --------------------------------------------------------------------------- */

static int local_column(const struct sparse *a, long first, long column)
{
    const long *found;

    if (column >= first && column < first + a->own)
        return (int)(column - first);
    found = bsearch(&column, a->ghost, a->ghosts, sizeof column, compare_longs);
    return (int)(a->own + (found - a->ghost));
}

/* The entries in the order of their rows; within one, in that in which they came. */
static void fill_rows(struct sparse *a, const struct entries *entries, long first_row,
                      long first_column)
{
    long *next = allocate((a->rows + 1) * sizeof *next);

    for (long r = 0; r <= a->rows; r++)
        a->start[r] = 0;
    for (long e = 0; e < entries->n; e++)
        a->start[entries->at[e].row - first_row + 1]++;
    for (long r = 0; r < a->rows; r++)
        next[r] = a->start[r + 1] += a->start[r];
    for (long r = 0; r < a->rows; r++)
        next[r] = a->start[r];
    for (long e = 0; e < entries->n; e++) {
        long at = next[entries->at[e].row - first_row]++;

        a->column[at] = local_column(a, first_column, entries->at[e].column);
        a->value[at] = entries->at[e].value;
    }
    free(next);
}

struct sparse sparse_make(struct entries *entries, long rows, long columns)
{
    long first_row = team_rank() * block_length(rows);
    long first_column = team_rank() * block_length(columns);
    struct sparse a = {.rows = block_share(rows, team_rank()),
                       .own = block_share(columns, team_rank()),
                       .entries = entries->n};

    find_ghosts(&a, entries, first_column);
    all_require(a.own + a.ghosts > INT_MAX ? "it has too many columns" : NULL, "the matrix",
                "take more processors");
    find_runs(&a, block_length(columns));
    a.start = allocate((a.rows + 1) * sizeof *a.start);
    a.column = allocate(a.entries * sizeof *a.column);
    a.value = allocate(a.entries * sizeof *a.value);
    fill_rows(&a, entries, first_row, first_column);
    free(entries->at);
    *entries = (struct entries){0};
    return a;
}

void sparse_free(struct sparse *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    free(a->ghost);
    free(a->run);
}

/* ---- multiplying ------------------------------------------------------------------------ */

static double row_times(const struct sparse *a, long row, const double *x)
{
    double sum = 0;

    for (long e = a->start[row]; e < a->start[row + 1]; e++)
        sum += a->value[e] * x[a->column[e]];
    return sum;
}

void sparse_multiply(const struct sparse *a, const double *x, double *y)
{
    for (long r = 0; r < a->rows; r++)
        y[r] = row_times(a, r, x);
}

void sparse_subtract(const struct sparse *a, const double *x, double *y)
{
    for (long r = 0; r < a->rows; r++)
        y[r] -= row_times(a, r, x);
}
