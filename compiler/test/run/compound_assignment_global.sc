#include <split-c/split-c.h>
#include "../check.h"

int cells[10];
double real;
unsigned char byte;
_Bool truth;

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS;
    int *global g = toglobal(next, cells);
    double *global d = toglobal(next, &real);
    unsigned char *global c = toglobal(next, &byte);

    for (int i = 0; i < 10; i++)
        cells[i] = 100 + i;
    real = 1.5;
    byte = 250;
    barrier();
    EXPECT(g[0] += 5, 105);
    EXPECT(g[1] -= 1 + 1, 99);
    EXPECT(g[2] *= 2 + 1, 306);
    EXPECT(g[3] /= 2, 51);
    EXPECT(g[4] %= 3 * 3, 5);
    EXPECT(g[5] <<= 1 + 1, 420);
    EXPECT(g[6] >>= 1, 53);
    EXPECT(g[7] &= 3 | 8, 107 & 11);
    EXPECT(g[8] |= 1, 109);
    EXPECT(g[9] ^= 0xff, 109 ^ 0xff);
    EXPECT(4 * (*d += 0.25), 7);
    EXPECT(*c += 10, 4);
    g[0] *= 1.5;
    *d -= g[0];
    *toglobal(next, &truth) |= 6;
    barrier();
    EXPECT(cells[0], 157);
    EXPECT(cells[5], 420);
    EXPECT(4 * real, 7 - 4 * 157);
    EXPECT(byte, 4);
    EXPECT(truth, 1);
    return failures;
}
