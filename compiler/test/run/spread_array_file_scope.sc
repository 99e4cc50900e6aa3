#include <split-c/split-c.h>
#include "../check.h"

#define ROWS 3

int scalar[ROWS * PROCS]::;
static double block[PROCS]::[4];
struct {
    int id;
    char tag[3];
} records[2 * PROCS + 1]::;
int plane[ROWS][PROCS]::[2][3];

int splitc_main(void)
{
    int i, j;

    EXPECT(scalar[ROWS * PROCS - 1], 0);
    barrier();
    for_my_1d(i, ROWS * PROCS)
        scalar[i] = i * i;
    block[MYPROC][3] = MYPROC / 2.0;
    for (i = MYPROC; i < 2 * PROCS + 1; i += PROCS)
        records[i].id = -i;
    for_my_2d(i, j, ROWS, PROCS)
        plane[i][j][1][2] = 100 * i + j;
    barrier();
    for (i = 0; i < ROWS * PROCS; i++)
        EXPECT(scalar[i], i * i);
    for (i = 0; i < PROCS; i++)
        EXPECT(2 * block[i][3], i);
    for (i = 0; i < 2 * PROCS + 1; i++)
        EXPECT(records[i].id, -i);
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < PROCS; j++)
            EXPECT(plane[i][j][1][2], 100 * i + j);
    barrier();
    return failures;
}
