#include <split-c/split-c.h>
#include "../check.h"

static int cube[3][PROCS + 1][7]::;
static int blocks[3][PROCS + 1][7]::[2];

/* Each index goes on by the elements behind its own dimension, whatever the other ones are. */
int splitc_main(void)
{
    int *spread first = &cube[0][0][0];
    int i, j, k, place = 0;

    for_my_1d(place, 3 * (PROCS + 1) * 7)
        first[place] = place;
    on_one for (i = 0; i < 3; i++)
        for (j = 0; j <= PROCS; j++)
            for (k = 0; k < 7; k++)
                blocks[i][j][k][1] = 100 * i + 10 * j + k;
    barrier();
    for (place = 0, i = 0; i < 3; i++)
        for (j = 0; j <= PROCS; j++)
            for (k = 0; k < 7; k++, place++) {
                EXPECT(cube[i][j][k], place);
                EXPECT(blocks[i][j][k][1], 100 * i + 10 * j + k);
                EXPECT(toproc(&cube[i][j][k]), place % PROCS);
            }
    barrier();
    return failures;
}
