#include <split-c/split-c.h>
#include "../check.h"

static void *spread same(void *spread p)
{
    return p;
}

static int at(int *spread p, int i)
{
    return p[i];
}

static void zero(void *global p, long n)
{
    char nothing[64] = {0};
    bulk_write(p, nothing, n);
}

int splitc_main(void)
{
    int A[2 * PROCS]::, *spread p;
    char *spread bytes;
    void *spread v = A;

    A[MYPROC] = MYPROC + 1;
    A[MYPROC + PROCS] = 9;
    barrier();
    p = v;
    EXPECT(p[PROCS - 1], PROCS);
    EXPECT(at(v, PROCS), 9);
    EXPECT(at(same(p), 0), 1);
    EXPECT(at((void *spread)A, PROCS + PROCS - 1), 9);
    bytes = same(A);
    EXPECT(bytes[0], 1);
    EXPECT(bytes == v, 1);
    EXPECT(v != NULL, 1);
    barrier();
    zero(&A[MYPROC], sizeof(int));
    EXPECT(A[MYPROC], 0);
    barrier();
    return failures;
}
