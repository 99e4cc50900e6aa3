/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mm.c - the main program of the matrix multiplication.
 */
#include "block.h"
#include "common.h"
#include "npy.h"
#include "product.h"
#include "random.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    long blocks;
    long block_size;
    long seed;
    const char *a;
    const char *b;
    const char *output;
    int blas;
} given = {.blocks = 8, .block_size = 128, .seed = 1};

static const struct option_entry options[] = {
    {"blocks", OPTION_NUMBER, &given.blocks, "N", "matrices of N x N blocks (default 8)"},
    {"block-size", OPTION_NUMBER, &given.block_size, "N", "blocks of N x N doubles (default 128)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random matrices' seed (default 1)"},
    {"a", OPTION_TEXT, &given.a, "FILE", "read A from a .npy file of doubles"},
    {"b", OPTION_TEXT, &given.b, "FILE", "read B from a .npy file of doubles"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write C to a .npy file"},
    {"blas", OPTION_FLAG, &given.blas, "", "multiply blocks with OpenBLAS"},
    {0},
};

/* A matrix, and the file that it comes from or goes to. */
struct matrix {
    const char *file; /* NULL: random elements */
    unsigned long seed;
    int fd;
    struct npy shape;
};

static int blocks_of(long length, int b)
{
    return length > 0 ? (int)((length - 1) / b + 1) : 1;
}

/* ---- where the elements come from and go to ------------------------------------ */

/* What moves between a matrix and one row of a block: n elements of the matrix's
 * row from `column` on. */
typedef int row_mover(const struct matrix *m, double *in_block, long row, long column, long n);

static long file_offset(const struct matrix *m, long row, long column)
{
    return m->shape.data + (row * m->shape.columns + column) * (long)sizeof(double);
}

static int read_row(const struct matrix *m, double *to, long row, long column, long n)
{
    return read_at(m->fd, to, n * sizeof(double), file_offset(m, row, column));
}

static int write_row(const struct matrix *m, double *from, long row, long column, long n)
{
    return write_at(m->fd, from, n * sizeof(double), file_offset(m, row, column));
}

/* Random elements in [-1, 1). */
static int make_row(const struct matrix *m, double *to, long row, long column, long n)
{
    for (long j = 0; j < n; j++)
        to[j] = random_real(m->seed, row * m->shape.columns + column + j);
    return 0;
}

static double *block_at(const struct blocks *m, long number)
{
    return m->mine + number / team_size() * m->b * m->b;
}

/* Move this processor's blocks row by row; what lies outside the matrix stays. */
static int move_blocks(const struct matrix *m, row_mover *move, const struct blocks *blocks)
{
    long all = (long)blocks->rows * blocks->columns, b = blocks->b;
    int error = 0;

    for (long at = team_rank(); at < all; at += team_size()) {
        long row = at / blocks->columns * b, column = at % blocks->columns * b;
        long height = m->shape.rows - row, width = m->shape.columns - column;

        for (long r = 0; r < b && r < height && !error; r++)
            error = move(m, block_at(blocks, at) + r * b, row + r, column, width < b ? width : b);
    }
    return error;
}

/* How many blocks a processor has room for. */
static long blocks_each(const struct blocks *m)
{
    return block_length((long)m->rows * m->columns);
}

static void clear(struct blocks *m)
{
    memset(m->mine, 0, sizeof(double) * m->b * m->b * blocks_each(m));
}

static struct blocks make_blocks(int rows, int columns, int b)
{
    struct blocks m = {.rows = rows, .columns = columns, .b = b};

    blocks_allocate(&m);
    clear(&m);
    return m;
}

static void require_finite(const struct matrix *m, const struct blocks *blocks)
{
    long b = blocks->b, n = b * b * blocks_each(blocks), at = 0, block;
    char problem[80];

    while (at < n && isfinite(blocks->mine[at]))
        at++;
    block = at / (b * b) * team_size() + team_rank();
    snprintf(problem, sizeof problem, "element (%ld, %ld) is not finite",
             block / blocks->columns * b + at % (b * b) / b, block % blocks->columns * b + at % b);
    all_require(at < n ? problem : NULL, m->file, "put a number there");
}

static struct blocks load(const struct matrix *m, int b)
{
    struct blocks blocks =
        make_blocks(blocks_of(m->shape.rows, b), blocks_of(m->shape.columns, b), b);

    all_require(problem_of(move_blocks(m, m->file ? read_row : make_row, &blocks)), m->file,
                "it could not be read to its end");
    if (m->file)
        require_finite(m, &blocks);
    return blocks;
}

/* ---- which blocks, in which order -------------------------------------------------------- */

struct step step_at(long s, int inner, int columns)
{
    long block = team_rank() + s / inner * team_size();

    return (struct step){(int)(block / columns), (int)(block % columns), (int)(s % inner)};
}

long steps_here(int rows, int inner, int columns)
{
    long blocks = (long)rows * columns, me = team_rank();

    return blocks > me ? ((blocks - 1 - me) / team_size() + 1) * inner : 0;
}

/* ---- the check ------------------------------------------------------------------------ */

/* A whole matrix, padding included, in the order of its rows; from malloc. */
static double *gather(const struct blocks *m)
{
    long b = m->b, width = m->columns * b, each = blocks_each(m) * b * b;
    double *dealt = allocate(sizeof(double) * each * team_size());
    double *whole = allocate(sizeof(double) * m->rows * b * width);

    team_gather(dealt, m->mine, each * (long)sizeof(double));
    for (long at = 0; at < (long)m->rows * m->columns; at++) {
        const double *block = dealt + at % team_size() * each + at / team_size() * b * b;
        double *to = whole + at / m->columns * b * width + at % m->columns * b;

        for (long r = 0; r < b; r++)
            memcpy(to + r * width, block + r * b, b * sizeof *to);
    }
    free(dealt);
    return whole;
}

static int close_enough(double value, double expected, double rounding)
{
    return fabs(value - expected) <= rounding || value == expected ||
           (isnan(value) && isnan(expected));
}

/* One row of C by the definition, added up in the row `sum`; `size` gets what the sum of
 * the absolute values is, to which rounding is in proportion. */
static int row_agrees(const double *a, const double *b, const double *c, long inner, long columns,
                      double *sum, double *size)
{
    for (long j = 0; j < columns; j++)
        sum[j] = size[j] = 0;
    for (long k = 0; k < inner; k++)
        for (long j = 0; j < columns; j++) {
            sum[j] += a[k] * b[k * columns + j];
            size[j] += fabs(a[k] * b[k * columns + j]);
        }
    for (long j = 0; j < columns; j++)
        if (!close_enough(c[j], sum[j], size[j] * inner * 0x1p-52))
            return 0;
    return 1;
}

/* Collective: a plain triple loop, each processor checking its share of the rows. */
static int check(const struct blocks *a, const struct blocks *b, const struct blocks *c)
{
    long high = (long)a->rows * a->b, deep = (long)a->columns * a->b,
         wide = (long)b->columns * a->b;
    double *left = gather(a), *right = gather(b), *product = gather(c);
    double *sum = allocate(2 * wide * sizeof *sum);
    int good = 1;

    for (long i = team_rank(); i < high; i += team_size())
        good &= row_agrees(left + i * deep, right, product + i * wide, deep, wide, sum, sum + wide);
    free(sum);
    free(product);
    free(right);
    free(left);
    return (int)team_min(good);
}

/* ---- the program --------------------------------------------------------------------------- */

static struct matrix open_matrix(const char *file, long rows, long columns, int seed)
{
    struct matrix m = {file, seed, -1, {rows, columns, 0}};
    const char *problem;
    char *head;
    long length, n;

    if (!file)
        return m;
    m.fd = open_input(file, &length);
    n = length < 65536 ? length : 65536;
    head = allocate(n);
    problem = problem_of(read_at(m.fd, head, n, 0));
    if (!problem)
        problem = npy_parse(head, n, length, &m.shape);
    free(head);
    all_require(problem, file, "save it as numpy.save(FILE, matrix.astype('<f8', 'C'))");
    return m;
}

static void write_matrix(const char *file, struct npy shape, const struct blocks *c)
{
    char head[NPY_HEADER_BYTES];
    struct matrix m = {file, 0, -1, {shape.rows, shape.columns, sizeof head}};
    int error = 0;

    m.fd = open_output(file, file_offset(&m, shape.rows, 0));
    npy_format(head, shape.rows, shape.columns);
    if (team_rank() == 0)
        error = write_at(m.fd, head, sizeof head, 0);
    if (!error)
        error = move_blocks(&m, write_row, c);
    close(m.fd);
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}

static int run(const struct matrix *ma, const struct matrix *mb, int b)
{
    struct npy shape = {ma->shape.rows, mb->shape.columns, 0};
    struct blocks left = load(ma, b), right = load(mb, b);
    struct blocks product = {.rows = left.rows, .columns = right.columns, .b = b};
    struct watch watch = {0};
    int good;

    blocks_allocate(&product);
    while (next_turn(&watch)) {
        clear(&product);
        watch_start(&watch);
        multiply(&left, &right, &product, &watch);
    }

    good = !asked.check || check(&left, &right, &product);
    report(&watch, 2.0 * shape.rows * ma->shape.columns * shape.columns, "flops", good,
           "%ld x %ld times %ld x %ld, blocks of %d x %d", shape.rows, ma->shape.columns,
           mb->shape.rows, shape.columns, b, b);
    if (given.output)
        write_matrix(given.output, shape, &product);
    blocks_free(&product);
    blocks_free(&right);
    blocks_free(&left);
    return good;
}

int benchmark_main(int argc, char **argv)
{
    struct matrix a, b;
    long side;

    parse_options(argc, argv, "Blocked matrix multiplication of doubles.", options);
    if (given.block_size < 1 || given.block_size > 4096)
        all_quit(2, "--block-size is from 1 to 4096, not %ld", given.block_size);
    if (given.blocks < 1 || given.blocks > 65536)
        all_quit(2, "--blocks is from 1 to 65536, not %ld", given.blocks);
    if (!given.a != !given.b)
        all_quit(2, "--a and --b belong together; give both or none");
    all_require(given.blas ? block_use_blas() : NULL, "--blas", "install OpenBLAS (libopenblas0)");
    side = given.blocks * given.block_size;
    a = open_matrix(given.a, side, side, given.seed);
    b = open_matrix(given.b, side, side, given.seed + 1);
    if (a.shape.columns != b.shape.rows)
        all_quit(1, "%s has %ld columns but %s has %ld rows; they must be equal", given.a,
                 a.shape.columns, given.b, b.shape.rows);
    return run(&a, &b, given.block_size) ? 0 : 1;
}
