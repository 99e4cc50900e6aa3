// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

static double table[4][6];

static double sum(int rows, int columns, double (*global m)[columns])
{
    double total = 0;

    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            total += m[i][j];
    return total;
}

int splitc_main(void)
{
    int n = 6;
    double (*global rows)[n] = toglobal(PROCS - 1, table), (*global cube)[2][n];

    for (int i = 0; i < 24; i++)
        table[i / 6][i % 6] = i + MYPROC;
    barrier();
    EXPECT(sum(4, 6, rows), 23 * 12 + 24 * (PROCS - 1));
    EXPECT(rows[3][5], 22 + PROCS);
    EXPECT(*(*(rows + 1) + 2), 7 + PROCS);
    EXPECT(sizeof *rows, 48);
    EXPECT((char *global)(rows + 2) - (char *global)rows, 96);
    cube = (double(*global)[2][n])rows;
    EXPECT(cube[1][1][0], 17 + PROCS);
    EXPECT(&cube[1] - cube, 1);
    rows++;
    EXPECT(rows[0][0], 5 + PROCS);
    EXPECT(rows - (double(*global)[n])toglobal(PROCS - 1, table), 1);
    barrier();
    return failures;
}
