#include <split-c/split-c.h>
#include "../check.h"

#define GLOBAL_OF(T) T *global
#define SPREAD_OF(T) T *spread
#define DECLARE(T, name, n) T name[n]::
#define BLOCKS(T, name, n, m) T name[n]::[m]
#define FOR_ALL(i, n) for (i = MYPROC; i < (n); i += PROCS)
#define GET(l, r) do { (l) := (r); sync(); } while (0)
#define AT(A, i, j) ((A)[(i)][(j)])
#define CAT(a, b) a##b
#define VERB(v) CAT(all_, v)
#define ASSIGN :=
#define STORE :-

struct node {
    int key;
    GLOBAL_OF(struct node) next;
};

static GLOBAL_OF(int) same(GLOBAL_OF(int) p)
{
    return p;
}

int splitc_main(void)
{
    DECLARE(int, A, 2 * PROCS);
    BLOCKS(double, B, PROCS, 3);
    SPREAD_OF(int) p = A;
    struct node n = {MYPROC, &n};
    int i, v, w;
    double d;

    FOR_ALL(i, 2 * PROCS)
        AT((&p), 0, i) = i;
    AT(B, MYPROC, 2) = MYPROC;
    barrier();
    GET(v, A[2 * PROCS - 1]);
    GET(d, AT(B, PROCS - 1, 2));
    w ASSIGN *same(&A[PROCS]);
    sync();
    EXPECT(v, 2 * PROCS - 1);
    EXPECT(d, PROCS - 1);
    EXPECT(w, PROCS);
    EXPECT(n.next->next->key, MYPROC);
    barrier();
    A[MYPROC] STORE 5;
    VERB(store_sync)();
    EXPECT(A[PROCS - 1], 5);
    EXPECT(VERB(reduce_to_all_add)(1), PROCS);
    barrier();
    return failures;
}
