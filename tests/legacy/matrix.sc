/* SPDX-License-Identifier: BSD-3-Clause
 *
 * matrix.sc - dense matrices in blocks: products in three ways, and LU.
 *
 * A matrix of v by w blocks of b by b numbers is a spread array X[v][w]::[b][b].
 */
#include "plasma.h"

/* One block, here. */
static void multiply_block(b, c, a, x)
int b;
double c[b][b], a[b][b], x[b][b];
{
    int i, j, k;

    for (i = 0; i < b; i++)
        for (k = 0; k < b; k++) {
            double aik = a[i][k];
            for (j = 0; j < b; j++)
                c[i][j] += aik * x[k][j];
        }
}

inline void clear_block(int b, double (*c)[b])
{
    int i, j;
    FOR_2D(i, j, b, b)
        c[i][j] = 0;
}

/* Called before it is defined. */
extern inline double entry(int i, int j, int which);

/* Each of us fills the blocks that are here. */
fill_matrix(which, v, w, b, X)
int which, v, w, b;
double X[v][w]::[b][b];
{
    int i, j, k, l;

    for_my_2d(i, j, v, w) {
        double (*here)[b] = tolocal(X[i][j]);
        FOR_2D(k, l, b, b)
            here[k][l] = entry(i * b + k, j * b + l, which);
    }
    barrier();
}

extern inline double entry(int i, int j, int which)
{
    return which == 0 ? (i * 7 + j * 3) % 11 - 5.0
         : which == 1 ? (i + 2 * j) % 5 - 2.0
                      : i == j ? 20.0 : 1.0 / (1 + ABS(i - j));
}

double entry(int i, int j, int which)
{
    return which == 0 ? (i * 7 + j * 3) % 11 - 5.0
         : which == 1 ? (i + 2 * j) % 5 - 2.0
                      : i == j ? 20.0 : 1.0 / (1 + ABS(i - j));
}

/* C = A B, a number at a time: slow and simple. */
multiply_words(v, b, C, A, B)
double C[v][v]::[b][b], A[v][v]::[b][b], B[v][v]::[b][b];
{
    int i, j, k, l, m;

    for_my_2d(i, j, v, v)
        FOR_2D(k, l, b, b) {
            double sum = 0;
            for (m = 0; m < v * b; m++)
                sum += A[i][m / b][k][m % b] * AT(B, m, j * b + l, b);
            C[i][j][k][l] = sum;
        }
    barrier();
}

/* The same by blocks, the next of which is on its way while we compute. */
multiply_blocks(v, b, C, A, B)
double C[v][v]::[b][b], A[v][v]::[b][b], B[v][v]::[b][b];
{
    int i, j, k;
    double a[2][b][b], x[2][b][b];

    for_my_2d(i, j, v, v) {
        double (*c)[b] = tolocal(C[i][j]);
        clear_block(b, c);
        FETCH_BLOCK(a[0], A[i][0], b);
        FETCH_BLOCK(x[0], B[0][j], b);
        for (k = 0; k < v; k++) {
            sync();
            if (k + 1 < v) {
                FETCH_BLOCK(a[(k + 1) % 2], A[i][k + 1], b);
                FETCH_BLOCK(x[(k + 1) % 2], B[k + 1][j], b);
            }
            multiply_block(b, c, a[k % 2], x[k % 2]);
            transfers += 2;
        }
    }
    barrier();
}

/* And with pointers to blocks that walk: along a row of A they go from processor
 * to processor, down a column of B in steps of a row. */
multiply_walking(v, b, C, A, B)
double C[v][v]::[b][b], A[v][v]::[b][b], B[v][v]::[b][b];
{
    int i, j, k, m, n;

    for_my_2d(i, j, v, v) {
        double (*spread across)[b][b] = A[i];
        double (*spread down)[b][b] = B[0] + j;
        double (*c)[b] = tolocal(C[i][j]);

        clear_block(b, c);
        for (k = 0; k < v; k++, across++, down += v) {
            double a[b][b], x[b][b];
            FOR_2D(m, n, b, b)
                FETCH_PAIR(a[m][n], (*across)[m][n], x[m][n], (*down)[m][n]);
            sync();
            multiply_block(b, c, a, x);
        }
    }
    barrier();
}

/* The greatest difference of two matrices, everywhere. */
double difference(v, b, X, Y)
double X[v][v]::[b][b], Y[v][v]::[b][b];
{
    int i, j, k, l;
    double most = 0;

    for_my_2d(i, j, v, v)
        FOR_2D(k, l, b, b) {
            double d = X[i][j][k][l] - Y[i][j][k][l];
            most = MAX(most, ABS(d));
        }
    return all_reduce_to_all_dmax(most);
}

/* ---- LU without pivoting ------------------------------------------------------ */

static factor_block(b, a)
int b;
double a[b][b];
{
    int i, j, k;

    for (k = 0; k < b; k++)
        for (i = k + 1; i < b; i++) {
            a[i][k] /= a[k][k];
            for (j = k + 1; j < b; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
}

/* x = x / upper part of d */
static divide_right(b, x, d)
int b;
double x[b][b], d[b][b];
{
    int i, j, k;

    FOR_2D(i, j, b, b) {
        for (k = 0; k < j; k++)
            x[i][j] -= x[i][k] * d[k][j];
        x[i][j] /= d[j][j];
    }
}

/* x = lower part of d, with ones on its diagonal, \ x */
static divide_left(b, x, d)
int b;
double x[b][b], d[b][b];
{
    int i, j, k;

    FOR_2D(i, j, b, b)
        for (k = 0; k < i; k++)
            x[i][j] -= d[i][k] * x[k][j];
}

static subtract_product(b, c, a, x)
int b;
double c[b][b], a[b][b], x[b][b];
{
    int i, j, k;

    FOR_2D(i, j, b, b)
        for (k = 0; k < b; k++)
            c[i][j] -= a[i][k] * x[k][j];
}

#define IS_MINE(i, j, v) (((i) * (v) + (j)) % PROCS == MYPROC)

factor(v, b, A)
int v, b;
double A[v][v]::[b][b];
{
    double d[b][b], left[b][b], above[b][b];
    int i, j, k;

    for (k = 0; k < v; k++) {
        if (IS_MINE(k, k, v))
            factor_block(b, tolocal(A[k][k]));
        barrier();
        bulk_read(d, A[k][k], sizeof d);
        for (i = k + 1; i < v; i++) {
            if (IS_MINE(i, k, v))
                divide_right(b, tolocal(A[i][k]), d);
            if (IS_MINE(k, i, v))
                divide_left(b, tolocal(A[k][i]), d);
        }
        barrier();
        for (i = k + 1; i < v; i++)
            for (j = k + 1; j < v; j++) {
                if (!IS_MINE(i, j, v))
                    continue;
                FETCH_BLOCK(left, A[i][k], b);
                FETCH_BLOCK(above, A[k][j], b);
                sync();
                subtract_product(b, tolocal(A[i][j]), left, above);
            }
        barrier();
    }
}

/* Undo it: L U must be what we began with. */
double factor_error(v, b, A)
double A[v][v]::[b][b];
{
    int n = v * b, i, j, k;
    double most = 0;

    FOR_MINE(i, n)
        for (j = 0; j < n; j++) {
            double sum = 0;
            for (k = 0; k <= MIN(i, j); k++)
                sum += (k == i ? 1 : AT(A, i, k, b)) * AT(A, k, j, b);
            sum -= entry(i, j, 2);
            most = MAX(most, ABS(sum));
        }
    return all_reduce_to_all_dmax(most);
}

check_matrices(v, b)
{
    double A[v][v]::[b][b], B[v][v]::[b][b], C[v][v]::[b][b], D[v][v]::[b][b];
    int i, j;
    double sum = 0, *spread corner, *global last;

    fill_matrix(0, v, v, b, A);
    fill_matrix(1, v, v, b, B);
    multiply_words(v, b, C, A, B);
    multiply_blocks(v, b, D, A, B);
    CHECK("the product by blocks", difference(v, b, C, D) == 0);
    multiply_walking(v, b, D, A, B);
    CHECK("the product by walking pointers", difference(v, b, C, D) == 0);
    for (i = 0; i < v * b; i++)
        sum += entry(0, i, 0) * entry(i, 0, 1);
    corner = (double *spread)C[0][0];
    CHECK_CLOSE("an entry of the product", *corner, sum);
    last = &C[v - 1][v - 1][b - 1][b - 1];
    CHECK_CLOSE("its last entry", *last, AT(C, v * b - 1, v * b - 1, b));
    CHECK("where it is", toproc(last) == (v * v - 1) % PROCS);
    barrier();
    fill_matrix(2, v, v, b, A);
    factor(v, b, A);
    CHECK("the LU factors", factor_error(v, b, A) < CLOSE);
}
