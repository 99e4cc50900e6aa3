#include <split-c/split-c.h>
#include "../check.h"

struct account {
    long balance[64];
};

/* Long enough for others to come between, could they. */
static void deposit(struct account *a, int by)
{
    long seen[64];

    for (int i = 0; i < 64; i++)
        seen[i] = a->balance[i];
    splitc_poll();
    for (int i = 0; i < 64; i++)
        a->balance[i] = seen[i] + by;
}

struct account account;

int splitc_main(void)
{
    for (int i = 0; i < 300; i++)
        for (int p = 0; p < PROCS; p++)
            atomic(deposit, toglobal(p, &account), MYPROC + 1);
    barrier();
    for (int i = 0; i < 64; i++)
        EXPECT(account.balance[i], 300 * PROCS * (PROCS + 1) / 2);
    return failures;
}
