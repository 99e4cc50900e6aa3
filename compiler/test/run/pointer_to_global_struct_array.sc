#include <split-c/split-c.h>
#include "../check.h"

struct vec {
    float x[3];
    unsigned char tag;
} vecs[5];

int splitc_main(void)
{
    struct vec *global g = toglobal(PROCS - 1, vecs);
    struct vec(*global all)[5] = toglobal(PROCS - 1, &vecs);
    float *global x;
    int i, k;

    for (i = 0; i < 5; i++) {
        for (k = 0; k < 3; k++)
            vecs[i].x[k] = 10 * MYPROC + i + k / 4.0f;
        vecs[i].tag = 200 + i;
    }
    barrier();
    for (i = 0; i < 5; i++)
        for (k = 0; k < 3; k++) {
            float wanted = 10 * (PROCS - 1) + i + k / 4.0f;
            EXPECT(g[i].x[k] == wanted, 1);
            EXPECT((*all)[i].x[k] == wanted, 1);
            EXPECT(*((*all + i)->x + k) == wanted, 1);
            x = g[i].x;
            EXPECT(x[k] == wanted, 1);
            EXPECT(*(k + (i + g)->x) == wanted, 1);
        }
    EXPECT(all[0][4].tag, 204);
    EXPECT(&(*all)[5] - *all, 5);
    EXPECT(&g[3] - &g[1], 2);
    EXPECT((char *global)&g[1] - (char *global)g, sizeof(struct vec));
    barrier();
    return failures;
}
