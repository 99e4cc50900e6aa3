#include <split-c/split-c.h>
#include "../check.h"

#define N 5000

int A[PROCS]::[N];
int in[N], out[N];

static int sum(int *p)
{
    int total = 0;
    for (int i = 0; i < N; i++)
        total += p[i];
    return total;
}

int splitc_main(void)
{
    int next = (MYPROC + 1) % PROCS, before = (MYPROC + PROCS - 1) % PROCS;
    int *mine = tolocal(A[MYPROC]);

    for (int i = 0; i < N; i++)
        mine[i] = MYPROC, out[i] = 10 + MYPROC;
    barrier();
    bulk_read(in, A[next], sizeof in);
    EXPECT(sum(in), N * next);
    bulk_get(in, &A[before][0], sizeof in);
    sync();
    EXPECT(sum(in), N * before);
    barrier();
    bulk_write(&A[next][0], out, sizeof out);
    barrier();
    EXPECT(sum(mine), N * (10 + before));
    barrier();
    bulk_put(A[before], out, sizeof out);
    sync();
    barrier();
    EXPECT(sum(mine), N * (10 + next));
    barrier();
    bulk_store(A[next], in, sizeof in);
    store_sync(sizeof in);
    EXPECT(sum(mine), N * ((MYPROC + 2 * PROCS - 2) % PROCS));
    barrier();
    return failures;
}
