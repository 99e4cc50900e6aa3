#include <split-c/split-c.h>

static int x;

int f(int *global g)
{
    int x = *g, g2 = 0;
    for (int x = 0; x < *g; x++) {
        int g2 = *g + x;
        double A[PROCS]::;
        A[MYPROC] = g2;
        *g = g2;
    }
    return x + g2;
}
