#include <split-c/split-c.h>
#include "../check.h"

static int element(int r, int (*spread X)[r], int block, int k)
{
    return X[block][k];
}

int splitc_main(void)
{
    int q = PROCS > 2 ? 2 : 3, r = 4, n = 2 * PROCS + 1;
    int(*spread X)[q][r] = all_spread_malloc(n, sizeof(int[q][r]));
    int(*spread next)[q][r];

    EXPECT(sizeof *X, q * r * sizeof(int));
    for (int i = MYPROC; i < n; i += PROCS)
        for (int j = 0; j < q; j++)
            for (int k = 0; k < r; k++)
                X[i][j][k] = 100 * i + 10 * j + k;
    barrier();
    for (int i = 0; i < n; i++) {
        EXPECT(X[i][q - 1][r - 1], 100 * i + 10 * (q - 1) + r - 1);
        EXPECT((*(X + i))[0][1], 100 * i + 1);
        EXPECT(***(X + i), 100 * i);
        EXPECT(element(r, (int(*spread)[r])X, 0, 3), 3);
    }
    next = X + PROCS;
    EXPECT(toproc(next), 0);
    EXPECT((char *)tolocal(next) - (char *)tolocal(X), q * r * sizeof(int));
    EXPECT(next - X, PROCS);
    // A block is held whole: its first element's global pointer walks through it.
    int *global p = X[PROCS - 1][0];
    EXPECT(p[q * r - 1], 100 * (PROCS - 1) + 10 * (q - 1) + r - 1);
    barrier();
    all_spread_free(X);
    return failures;
}
