#include <split-c/split-c.h>
#include "../check.h"

int cells[4];

static int *global at(int p, int i)
{
    return ({
        int *global base = toglobal(p, cells);
        base + i;
    });
}

int splitc_main(void)
{
    int i, total = 0;

    for (i = 0; i < 4; i++)
        cells[i] = 10 * MYPROC + i;
    barrier();
    EXPECT(({ int *global g = at(PROCS - 1, 2); *g; }), 10 * PROCS - 8);
    EXPECT(*({ at(PROCS - 1, 3); }), 10 * PROCS - 7);
    i = ({ int t; t := *at(0, 1); sync(); t; });
    EXPECT(i, 1);
    for (i = 0; i < 4; i++)
        total += ({
            int B[PROCS]::;
            B[MYPROC] = *at(PROCS - 1, i);
            B[MYPROC];
        });
    EXPECT(total, 4 * 10 * (PROCS - 1) + 6);
    EXPECT(({ at(0, 0)[3]; }) + ({ int v = ({ *at(0, 2); }); v; }), 5);
    barrier();
    return failures;
}
