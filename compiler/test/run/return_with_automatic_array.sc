#include <split-c/split-c.h>
#include "../check.h"

struct pair {
    int a, b;
};

// The value is taken before the array is gone.
static struct pair last_pair(int n)
{
    struct pair A[n]::;
    A[MYPROC].a = MYPROC;
    A[MYPROC].b = -1;
    barrier();
    return A[n - 1];
}

static int *global address(int n)
{
    static int value;
    int *global A[n]::;
    value = 7 * MYPROC;
    A[MYPROC] = toglobal(MYPROC, &value);
    barrier();
    return A[PROCS - 1];
}

static double dot(int n, double x)
{
    double A[n]::[2];
    A[MYPROC][0] = A[MYPROC][1] = x;
    barrier();
    return A[0][0] * A[n - 1][1];
}

int splitc_main(void)
{
    EXPECT(last_pair(PROCS).a + last_pair(PROCS).b, PROCS - 2);
    EXPECT(*address(PROCS), 7 * (PROCS - 1));
    EXPECT(dot(PROCS, 1.5) * 4, 9);
    barrier();
    return failures;
}
