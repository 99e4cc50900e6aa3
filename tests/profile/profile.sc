/* SPDX-License-Identifier: BSD-3-Clause
 *
 * profile.sc - accesses of known numbers, for profile_test.py, which finds the lines by
 * their comments.
 */
#include <split-c/collective.h>
#include <split-c/split-c.h>

#define ROUNDS 100

struct bits {
    unsigned low : 4, high : 12;
};

static int x;
static struct bits field;
static double A[8]::[16];
static double row[16];

static int twice(int *global g)
{
    return *g + *g; /* TWICE */
}

int splitc_main(void)
{
    int *global g = toglobal((MYPROC + 1) % PROCS, &x);
    struct bits *global f = toglobal(0, &field);
    int sum = 0, y = 0, all[3];

    for (int i = 0; i < ROUNDS; i++) {
        *g = i;          /* WRITE */
        sum += *g;       /* READ */
        sum += twice(g); /* not one itself */
        f->high = i;     /* FIELD */
        *g += 1;         /* CHANGE */
    }
    y := *g; /* GET */
    sync();
    *g := sum; /* PUT */
    sync();
    *g :- y; /* STORE */
    all_store_sync();
    A[MYPROC][3] = 1;                                                     /* MINE */
    bulk_read(row, &A[(MYPROC + 1) % PROCS][0], sizeof row);              /* BULK */
    barrier();                                                            /* MEET */
    for (int i = 0; i < ROUNDS; i++)
        team_allgather(TEAM_ALL, all, &y, 1); /* GATHER */
    return 0;
}
