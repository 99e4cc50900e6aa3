#include <split-c/split-c.h>
#include "../check.h"

struct cell {
    int a, b[3];
};

int whole[PROCS]::[2][3];
struct cell cells[PROCS]::;
double matrix[2][PROCS]::[4];

static int sum(int *p, int n)
{
    return n ? *p + sum(p + 1, n - 1) : 0;
}

int splitc_main(void)
{
    int *spread heap = all_spread_malloc(3 * PROCS, sizeof(int));
    int(*block)[2][3] = tolocal(whole);
    int(*row)[3] = tolocal(whole[MYPROC]);
    int *mine = tolocal(heap + MYPROC);

    for (int i = 0; i < 3; i++)
        mine[i] = i + 1, row[1][i] = 10 * i, row[0][i] = 1;
    EXPECT(sum(tolocal(&heap[MYPROC]), 3), 6);
    EXPECT(heap[MYPROC + 2 * PROCS], 3);
    EXPECT(sum(tolocal(whole[MYPROC][1]), 3), 30);
    EXPECT((*block)[1][2], 20);
    EXPECT(tolocal(whole[MYPROC]) == *block, 1);
    EXPECT(tolocal(&whole[MYPROC][1][2]) - &(*block)[0][0], 5);
    tolocal(cells)->a = 4;
    tolocal(&cells[MYPROC])->b[2] = 5;
    tolocal(cells[MYPROC].b)[1] = 6;
    barrier();
    EXPECT(cells[PROCS - 1].a + cells[PROCS - 1].b[2] + cells[PROCS - 1].b[1], 15);
    // A sub-array of the left side decays to its first block.
    double(*first)[4] = tolocal(matrix[1]);
    EXPECT((char *)first - (char *)tolocal(matrix), 4 * sizeof(double));
    EXPECT(tolocal(matrix[0][MYPROC]) == *tolocal(matrix), 1);
    all_spread_free(heap);
    return failures;
}
