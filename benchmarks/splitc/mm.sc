/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mm.sc - blocked matrix multiplication C = A * B.
 *
 * The matrices are spread by blocks of b x b doubles.  Each processor makes the
 * blocks of C that it holds, and fetches the next two blocks of A and B while
 * it multiplies the last two.  A matrix whose sides are no multiple of b is
 * padded with zeros.
 */
#include "block.h"
#include "common.h"
#include "npy.h"
#include "random.h"
#include "team.h"

#include <math.h>
#include <split-c/split-c.h>
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
} given = {.blocks = 8, .block_size = 128, .seed = 1};

static const struct option_entry options[] = {
    {"blocks", OPTION_NUMBER, &given.blocks, "N", "matrices of N x N blocks (default 8)"},
    {"block-size", OPTION_NUMBER, &given.block_size, "N", "blocks of N x N doubles (default 128)"},
    {"seed", OPTION_NUMBER, &given.seed, "N", "the random matrices' seed (default 1)"},
    {"a", OPTION_TEXT, &given.a, "FILE", "read A from a .npy file of doubles"},
    {"b", OPTION_TEXT, &given.b, "FILE", "read B from a .npy file of doubles"},
    {"output", OPTION_TEXT, &given.output, "FILE", "write C to a .npy file"},
    {NULL},
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

/* Move this processor's blocks row by row; what lies outside the matrix stays. */
static int move_blocks(const struct matrix *m, row_mover *move, int rows, int columns, int b,
                       double M[rows][columns]::[b][b])
{
    int i, j, error = 0;

    for_my_2d(i, j, rows, columns) {
        double(*block)[b] = tolocal(M[i][j]);
        long height = m->shape.rows - (long)i * b, width = m->shape.columns - (long)j * b;

        for (long r = 0; r < b && r < height && !error; r++)
            error = move(m, block[r], (long)i * b + r, (long)j * b, width < b ? width : b);
    }
    return error;
}

static void clear_blocks(int rows, int columns, int b, double M[rows][columns]::[b][b])
{
    int i, j;

    for_my_2d(i, j, rows, columns) memset(tolocal(M[i][j]), 0, sizeof(double) * b * b);
}

static void fill(const struct matrix *m, int rows, int columns, int b,
                 double M[rows][columns]::[b][b])
{
    row_mover *move = m->file ? read_row : make_row;

    clear_blocks(rows, columns, b, M);
    all_require(problem_of(move_blocks(m, move, rows, columns, b, M)), m->file,
                "it could not be read to its end");
}

/* ---- the multiplication ------------------------------------------------------------ */

/* One product of two blocks on the way to block (i, j) of C. */
struct step {
    int i, j, k;
};

/* Step s of this processor: it makes its blocks of C one after the other. */
static struct step step_at(long s, int inner, int columns)
{
    long block = MYPROC + s / inner * PROCS;

    return (struct step){block / columns, block % columns, s % inner};
}

static long steps_here(int rows, int inner, int columns)
{
    long blocks = (long)rows * columns;

    return blocks > MYPROC ? ((blocks - 1 - MYPROC) / PROCS + 1) * inner : 0;
}

/* Begin to fetch the two blocks that a step multiplies. */
static void fetch(struct step at, double *x, double *y, int rows, int inner, int columns, int b,
                  double A[rows][inner]::[b][b], double B[inner][columns]::[b][b])
{
    bulk_get(x, &A[at.i][at.k][0][0], sizeof(double) * b * b);
    bulk_get(y, &B[at.k][at.j][0][0], sizeof(double) * b * b);
}

static void multiply(int rows, int inner, int columns, int b, double A[rows][inner]::[b][b],
                     double B[inner][columns]::[b][b], double C[rows][columns]::[b][b],
                     struct watch *watch)
{
    size_t block = (size_t)b * b, bytes = block * sizeof(double);
    long steps = steps_here(rows, inner, columns);
    double *x = allocate(2 * bytes), *y = allocate(2 * bytes); /* of this step and the next */

    if (steps > 0)
        fetch(step_at(0, inner, columns), x, y, rows, inner, columns, b, A, B);
    for (long s = 0; s < steps; s++) {
        struct step now = step_at(s, inner, columns);
        size_t here = (s & 1) * block, ahead = block - here;

        sync();
        if (s + 1 < steps)
            fetch(step_at(s + 1, inner, columns), x + ahead, y + ahead, rows, inner, columns, b, A,
                  B);
        watch_communicated(watch);
        block_multiply_add(b, (double *)tolocal(C[now.i][now.j]), x + here, y + here);
        watch_computed(watch);
    }
    barrier();
    watch_communicated(watch);
    free(x);
    free(y);
}

/* ---- the check ------------------------------------------------------------------------ */

/* A whole matrix, padding included, in the order of its rows; from malloc. */
static double *gather(int rows, int columns, int b, double M[rows][columns]::[b][b])
{
    long width = (long)columns * b;
    double *whole = allocate(sizeof(double) * rows * b * width);

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int r = 0; r < b; r++)
                bulk_get(whole + ((long)i * b + r) * width + (long)j * b, &M[i][j][r][0],
                         sizeof(double) * b);
    sync();
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
static int check(int rows, int inner, int columns, int b, double A[rows][inner]::[b][b],
                 double B[inner][columns]::[b][b], double C[rows][columns]::[b][b])
{
    long high = (long)rows * b, deep = (long)inner * b, wide = (long)columns * b, i;
    double *left = gather(rows, inner, b, A);
    double *right = gather(inner, columns, b, B);
    double *product = gather(rows, columns, b, C);
    double *sum = allocate(2 * wide * sizeof *sum);
    int good = 1;

    for_my_1d(i, high)
        good &= row_agrees(left + i * deep, right, product + i * wide, deep, wide, sum, sum + wide);
    free(sum);
    free(product);
    free(right);
    free(left);
    return all_reduce_to_all_min(good);
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

static void write_matrix(const char *file, struct npy shape, int rows, int columns, int b,
                         double M[rows][columns]::[b][b])
{
    char head[NPY_HEADER_BYTES];
    struct matrix m = {file, 0, -1, {shape.rows, shape.columns, sizeof head}};
    int error = 0;

    m.fd = open_output(file, file_offset(&m, shape.rows, 0));
    npy_format(head, shape.rows, shape.columns);
    on_one error = write_at(m.fd, head, sizeof head, 0);
    if (!error)
        error = move_blocks(&m, write_row, rows, columns, b, M);
    close(m.fd);
    all_require(problem_of(error), file, "it is incomplete; see that there is room for it");
}

static int run(const struct matrix *ma, const struct matrix *mb, int b)
{
    int rows = blocks_of(ma->shape.rows, b), inner = blocks_of(ma->shape.columns, b);
    int columns = blocks_of(mb->shape.columns, b), good = 1;
    struct npy shape = {ma->shape.rows, mb->shape.columns, 0};
    double A[rows][inner]::[b][b], B[inner][columns]::[b][b], C[rows][columns]::[b][b];
    struct watch watch;

    fill(ma, rows, inner, b, A);
    fill(mb, inner, columns, b, B);
    clear_blocks(rows, columns, b, C);
    watch_start(&watch);
    multiply(rows, inner, columns, b, A, B, C, &watch);
    if (asked.check)
        good = check(rows, inner, columns, b, A, B, C);

    report(&watch, 2.0 * shape.rows * ma->shape.columns * shape.columns, "flops", good,
           "%ld x %ld times %ld x %ld, blocks of %d x %d", shape.rows, ma->shape.columns,
           mb->shape.rows, shape.columns, b, b);
    if (given.output)
        write_matrix(given.output, shape, rows, columns, b, C);
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
    side = given.blocks * given.block_size;
    a = open_matrix(given.a, side, side, given.seed);
    b = open_matrix(given.b, side, side, given.seed + 1);
    if (a.shape.columns != b.shape.rows)
        all_quit(1, "%s has %ld columns but %s has %ld rows; they must be equal", given.a,
                 a.shape.columns, given.b, b.shape.rows);
    return run(&a, &b, given.block_size) ? 0 : 1;
}
