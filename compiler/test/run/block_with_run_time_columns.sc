// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

/* The shapes of blocked matrix programs: rows of blocks, columns given at run time. */
static void transpose(int n, int q, int A[n][n]::[q][q], int T[n][n]::[q][q])
{
    int i, j, k, l, block[q][q];

    for_my_2d(i, j, n, n) {
        int(*t)[q] = tolocal(T[i][j]);
        bulk_read(block, A[j][i], sizeof block);
        for (k = 0; k < q; k++)
            for (l = 0; l < q; l++)
                t[k][l] = block[l][k];
    }
    barrier();
}

int splitc_main(void)
{
    for (int n = 1; n < 4; n++)
        for (int q = 1; q < 4; q++) {
            int A[n][n]::[q][q], T[n][n]::[q][q], i, j;

            for_my_2d(i, j, n, n) for (int k = 0; k < q * q; k++)
                A[i][j][k / q][k % q] = 1000 * i + 100 * j + 10 * (k / q) + k % q;
            barrier();
            transpose(n, q, A, T);
            for (i = 0; i < n; i++)
                for (j = 0; j < n; j++)
                    for (int k = 0; k < q * q; k++)
                        EXPECT(T[i][j][k / q][k % q], 1000 * j + 100 * i + 10 * (k % q) + k / q);
            EXPECT(sizeof A[0][0], q * q * sizeof(int));
            EXPECT(sizeof A[0][0][0], q * sizeof(int));
            barrier();
        }
    return failures;
}
