#include <split-c/split-c.h>
#include "../check.h"

static long total(int n, int m, long a[n][m])
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            sum += a[i][j];
    return sum;
}

static int far_row(int r, int (*global rows)[r], int i)
{
    r = 0; // the size is that of the declaration
    return rows[i][1] + 0 * r;
}

int splitc_main(void)
{
    int n = 3, m = PROCS + 2;
    long a[n][m];
    int b[4][m], *global list[n], *global(*all)[n] = &list;
    int(*rows)[m] = b;
    typedef int row[m];
    row *global g = toglobal(MYPROC, b);

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = i + j;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < m; j++)
            rows[i][j] = 10 * i + j;
    list[2] = &b[3][1];
    EXPECT(total(n, m, a), m * (0 + 1 + 2) + n * m * (m - 1) / 2);
    EXPECT(far_row(m, g, 2), 21);
    m = 1;
    EXPECT(g[3][2], 32);
    EXPECT(sizeof *g, (PROCS + 2) * sizeof(int));
    EXPECT(*(*all)[2], 31);
    EXPECT(sizeof list, 3 * 8);
    EXPECT((char *)tolocal(g + 1) - (char *)b, (PROCS + 2) * sizeof(int));
    return failures;
}
