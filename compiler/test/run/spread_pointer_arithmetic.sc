#include <split-c/split-c.h>
#include "../check.h"

// Position L is on processor L % PROCS, in row L / PROCS: checked against that.
static void check_position(long *spread base, long *spread p, long L)
{
    EXPECT(toproc(p), L % PROCS);
    EXPECT((char *)tolocal(p) - (char *)tolocal(base), L / PROCS * sizeof(long));
    EXPECT(*p, L);
}

int splitc_main(void)
{
    long n = 5 * PROCS + 1, i;
    long *spread A = all_spread_malloc(n, sizeof(long)), *spread p;

    for_my_1d(i, n)
        A[i] = i;
    barrier();
    for (i = 0, p = A; i < n; i++, p++)
        check_position(A, p, i);
    for (i = n - 1, p = A + n; p > A; i--)
        check_position(A, --p, i);
    for (i = 0; i < n; i++) {
        check_position(A, A + i, i);
        check_position(A, i + A, i);
        check_position(A, A + n - (n - i), i);
        check_position(A, A + n + (i - n), i);
        check_position(A, &A[i], i);
    }
    p = A;
    p += 2 * PROCS + 1;
    check_position(A, p, 2 * PROCS + 1);
    p -= PROCS + 1;
    check_position(A, p--, PROCS);
    check_position(A, p++, PROCS - 1);
    check_position(A, p, PROCS);
    EXPECT(p[-1], PROCS - 1);
    EXPECT((-1)[p], PROCS - 1);
    all_spread_free(A);
    return failures;
}
