/* SPDX-License-Identifier: BSD-3-Clause
 *
 * cg.c - the main program of the conjugate gradients.
 */
#include "common.h"
#include "random.h"
#include "solve.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    const char *matrix;
    const char *rhs;
    const char *output;
    long poisson;
    long digits;
    long iterations;
    long seed;
} given = {.digits = 8, .seed = 1};

static const struct option_entry options[] = {
    {"matrix", OPTION_TEXT, &given.matrix, "FILE", "a Matrix Market file: A, symmetric"},
    {"rhs", OPTION_TEXT, &given.rhs, "FILE", "a Matrix Market vector: b (default random)"},
    {"poisson", OPTION_NUMBER, &given.poisson, "N", "Poisson's equation on N x N (default 256)"},
    {"digits", OPTION_NUMBER, &given.digits, "N", "reduce the residual by 10^N (default 8)"},
    {"iterations", OPTION_NUMBER, &given.iterations, "N", "at most that many (default 10 a row)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random right side's seed (default 1)"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write x as a Matrix Market vector"},
    {0},
};

/* ---- the matrix, entry by entry ------------------------------------------------------------ */

typedef void entry_visitor(void *with, long row, long column, double value);

static void visit_poisson(long side, entry_visitor *visit, void *with)
{
    for (long y = 0; y < side; y++)
        for (long x = 0; x < side; x++) {
            long row = y * side + x;

            if (y > 0)
                visit(with, row, row - side, -1);
            if (x > 0)
                visit(with, row, row - 1, -1);
            visit(with, row, row, 4);
            if (x + 1 < side)
                visit(with, row, row + 1, -1);
            if (y + 1 < side)
                visit(with, row, row + side, -1);
        }
}

/* A number that the entry shares with its mirror image, and with hardly any other. */
static unsigned long imprint(const struct entry *e)
{
    long low = e->row < e->column ? e->row : e->column;
    long high = e->row < e->column ? e->column : e->row;
    unsigned long bits;

    memcpy(&bits, &e->value, sizeof bits);
    return random_at(random_at(bits, low), high);
}

/* What is above the diagonal and what is below cancel out in the sum of the imprints. */
static void visit_file(const char *file, entry_visitor *visit, void *with)
{
    struct mtx mtx = mtx_open(file);
    unsigned long above = 0, below = 0;
    struct entry e;

    while (mtx_next(&mtx, &e)) {
        visit(with, e.row, e.column, e.value);
        if (mtx.symmetric && e.row != e.column)
            visit(with, e.column, e.row, e.value);
        above += e.row < e.column ? imprint(&e) : 0;
        below += e.row > e.column ? imprint(&e) : 0;
    }
    if (!mtx.symmetric && above != below)
        text_fail(&mtx.text, "the matrix is not symmetric: conjugate gradients need that");
    mtx_close(&mtx);
}

static void visit_entries(entry_visitor *visit, void *with)
{
    if (given.matrix)
        visit_file(given.matrix, visit, with);
    else
        visit_poisson(given.poisson, visit, with);
}

static long count_unknowns(void)
{
    struct mtx mtx;
    long n;

    if (!given.matrix)
        return given.poisson * given.poisson;
    mtx = mtx_open(given.matrix);
    if (mtx.rows != mtx.columns)
        text_fail(&mtx.text, "a system of equations is square, not %ld x %ld", mtx.rows,
                  mtx.columns);
    if (mtx.skew)
        text_fail(&mtx.text, "the matrix is skew: conjugate gradients need a symmetric one");
    n = mtx.rows;
    mtx_close(&mtx);
    return n;
}

/* ---- the system ------------------------------------------------------------------------------ */

struct own_rows {
    struct entries entries;
    long first, end;
};

static void keep_own(void *with, long row, long column, double value)
{
    struct own_rows *own = with;

    if (row >= own->first && row < own->end)
        add_entry(&own->entries, row, column, value);
}

static double *make_rhs(long n, long first, long mine)
{
    double *b = allocate(mine * sizeof *b), *whole;

    if (!given.rhs) {
        for (long i = 0; i < mine; i++)
            b[i] = random_real(given.seed, first + i);
        return b;
    }
    whole = mtx_read_vector(given.rhs, n);
    memcpy(b, whole + first, mine * sizeof *b);
    free(whole);
    return b;
}

static struct system make_system(void)
{
    struct system s = {.n = count_unknowns(), .reduction = pow(10, -(double)given.digits)};
    long mine = block_share(s.n, team_rank());
    long first = mine > 0 ? team_rank() * block_length(s.n) : 0;
    struct own_rows own = {.first = first, .end = first + mine};

    visit_entries(keep_own, &own);
    s.a = sparse_make(&own.entries, s.n, s.n);
    s.b = make_rhs(s.n, first, mine);
    s.x = allocate(mine * sizeof *s.x);
    s.limit = given.iterations ? given.iterations : 10 * s.n;
    return s;
}

/* ---- the check ---------------------------------------------------------------------------- */

/* b - A x by the definition, of all rows. */
struct residual {
    const double *x;
    double *r;
};

static void subtract_product(void *with, long row, long column, double value)
{
    struct residual *residual = with;

    residual->r[row] -= value * residual->x[column];
}

/* A vector of which each processor has its block, whole; from malloc. */
static double *gather(const double *block, long n)
{
    long length = block_length(n);
    double *mine = allocate(length * sizeof *mine);
    double *whole = allocate(team_size() * length * sizeof *whole);

    memset(mine, 0, length * sizeof *mine);
    memcpy(mine, block, block_share(n, team_rank()) * sizeof *mine);
    team_gather(whole, mine, length * (long)sizeof *mine);
    free(mine);
    return whole;
}

/* Collective: true if x solves the system as well as the iteration believes. */
static int check(const struct system *s)
{
    double *b = gather(s->b, s->n), *x = gather(s->x, s->n);
    double all = dot(s->n, b, b), left;
    struct residual residual = {x, b};

    visit_entries(subtract_product, &residual);
    left = dot(s->n, b, b);
    free(x);
    free(b);
    return sqrt(left) <= 10 * s->reduction * sqrt(all);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Multiplications and additions of so many iterations. */
static double work(const struct system *s, long iterations)
{
    return iterations * (2 * team_sum(s->a.entries) + 10.0 * s->n);
}

int benchmark_main(int argc, char **argv)
{
    struct system s;
    struct watch watch = {0};
    long iterations = 0;
    int good;

    parse_options(argc, argv, "Conjugate gradients for a sparse system A x = b.", options);
    if (given.matrix && given.poisson)
        all_quit(2, "--matrix and --poisson exclude each other; give one of them");
    if (given.poisson > 1 << 20)
        all_quit(2, "--poisson is at most %d, not %ld", 1 << 20, given.poisson);
    if (given.digits > 15)
        all_quit(2, "--digits is at most 15, not %ld", given.digits);
    if (!given.matrix && !given.poisson)
        given.poisson = 256;
    s = make_system();

    while (next_turn(&watch)) {
        watch_start(&watch);
        iterations = solve(&s, &watch);
    }

    good = !asked.check || check(&s);
    report_fact("iterations", iterations);
    report_fact("residual", s.residual);
    report(&watch, work(&s, iterations), "flops", good, "%ld unknowns, %.0f entries", s.n,
           team_sum(s.a.entries));
    if (given.output)
        mtx_write_vector(given.output, s.x, s.n);
    sparse_free(&s.a);
    free(s.b);
    free(s.x);
    return good ? 0 : 1;
}
