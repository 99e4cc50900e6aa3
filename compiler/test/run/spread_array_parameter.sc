#include <split-c/split-c.h>
#include "../check.h"

static int corner(int v, int w, int q, int r, int X[v][w]::[q][r])
{
    return X[v - 1][w - 1][q - 1][r - 1];
}

static void fill(int n, int m, double A[n]::[m], double by)
{
    int i;
    for_my_1d(i, n)
        for (int k = 0; k < m; k++)
            A[i][k] = by * (i + k);
}

static int sum_scalars(int n, int S[n]::)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += S[i];
    return total;
}

int splitc_main(void)
{
    int v = 2, w = PROCS + 1, q = 3, r = 2;
    int X[v][w]::[q][r], S[3 * PROCS]::;
    double A[PROCS]::[5];
    int i, j;

    for_my_2d(i, j, v, w)
        X[i][j][q - 1][r - 1] = 10 * i + j;
    for_my_1d(i, 3 * PROCS)
        S[i] = i;
    fill(PROCS, 5, A, 0.5);
    barrier();
    EXPECT(corner(v, w, q, r, X), 10 + PROCS);
    EXPECT(sum_scalars(3 * PROCS, S), 3 * PROCS * (3 * PROCS - 1) / 2);
    for (i = 0; i < PROCS; i++)
        EXPECT(2 * A[i][4], i + 4);
    barrier();
    return failures;
}
