// flags: -std=gnu89
/*
 * mm.sc - blocked matrix multiply; blocks are spread, fetched with bulk_get
 * while the block before is multiplied.
 */
#include <stdio.h>
#include <math.h>
#include <split-c/split-c.h>

#define R 4
#define Q 3
#define V 5
#define NEXT(k) ((k) + 1 < w ? (k) + 1 : 0)

double checksum();

inline void block_multiply(n, m, p, c, a, b)
int n, m, p;
double c[n][p], a[n][m], b[m][p];
{
    register int i, j, k;
    for (i = 0; i < n; i++)
        for (j = 0; j < p; j++) {
            register double sum = c[i][j];
            for (k = 0; k < m; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

fill(v, w, q, r, X, f)
int v, w, q, r;
double X[v][w]::[q][r];
double (*f)();
{
    int i, j, ii, jj;

    for_my_2d(i, j, v, w) {
        double (*x)[r] = tolocal(X[i][j]);
        for (ii = 0; ii < q; ii++)
            for (jj = 0; jj < r; jj++)
                x[ii][jj] = (*f)(i * q + ii, j * r + jj);
    }
}

double a_element(i, j) { return i + 2 * j + 1; }
double b_element(i, j) { return i - j; }
double zero(i, j) { return 0.0; }

matrix_multiply(u, v, w, n, m, p, C, A, B)
int u, v, w, n, m, p;
double C[u][v]::[n][p], A[u][w]::[n][m], B[w][v]::[m][p];
{
    int i, j, k;
    double a[2][n][m], b[2][m][p];

    for_my_2d(i, j, u, v) {
        double (*c)[p] = (double (*)[p])tolocal(C[i][j]);
        int now = 0;
        bulk_get(a[0], A[i][0], n * m * sizeof(double));
        bulk_get(b[0], B[0][j], m * p * sizeof(double));
        for (k = 0; k < w; k++) {
            sync();
            if (k + 1 < w) {
                bulk_get(a[!now], A[i][NEXT(k)], sizeof a[0]);
                bulk_get(b[!now], B[NEXT(k)][j], sizeof b[0]);
            }
            block_multiply(n, m, p, c, a[now], b[now]);
            now = !now;
        }
    }
    barrier();
}

double checksum(v, w, q, r, X)
int v, w, q, r;
double X[v][w]::[q][r];
{
    double sum = 0;
    int i, j, ii, jj;
    for_my_2d(i, j, v, w)
        for (ii = 0; ii < q; ii++)
            for (jj = 0; jj < r; jj++)
                sum += X[i][j][ii][jj] * (ii + 1);
    return all_reduce_to_all_dadd(sum);
}

splitc_main()
{
    int u = 2, v = 3, w = V, i, j, k, n = u * R, p = v * Q, m = w * R;
    double A[u][w]::[R][R], B[w][v]::[R][Q], C[u][v]::[R][Q];
    double expected = 0;

    fill(u, w, R, R, A, a_element);
    fill(w, v, R, Q, B, b_element);
    fill(u, v, R, Q, C, zero);
    barrier();
    matrix_multiply(u, v, w, R, R, Q, C, A, B);
    for (i = 0; i < n; i++)
        for (j = 0; j < p; j++)
            for (k = 0; k < m; k++)
                expected += a_element(i, k) * b_element(k, j) * (i % R + 1);
    if (fabs(checksum(u, v, R, Q, C) - expected) > 0.5) {
        printf("processor %d: checksum %g, not %g\n", MYPROC, checksum(u, v, R, Q, C), expected);
        return 1;
    }
    if (C[u - 1][v - 1][R - 1][Q - 1] == 0.0)
        return 2;
    barrier();
}
