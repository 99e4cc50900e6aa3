#include <split-c/collective.h>
#include <split-c/atomic.h>
#include "../check.h"

/* Names of team.h, collective.h and atomic.h with arguments of every kind, read through global
 * pointers, evaluated once. */

static int table[4], calls;
static unsigned char flags;

static splitc_team *the_team(void)
{
    calls++;
    return TEAM_ALL;
}

static void longest(void *acc, const void *next, long count)
{
    long *a = acc;
    const long *b = next;

    while (count-- > 0)
        if (b[count] > a[count])
            a[count] = b[count];
}

int splitc_main(void)
{
    int *global far = toglobal((MYPROC + 1) % PROCS, table);
    long v[2][3] = {{MYPROC, 1, 2}, {3}}, w[2][3];
    const long *from = v[0];
    short s = -1, t = 5;
    char c = MYPROC;
    int rank = team_rank(TEAM_ALL), size = team_size(TEAM_NODE);

    table[0] = 3;
    table[1] = MYPROC;
    barrier();
    team_allreduce(the_team(), w[0], from, far[0], TEAM_ADD);
    EXPECT(w[0][0], PROCS * (PROCS - 1) / 2);
    EXPECT(w[0][2], 2 * PROCS);
    team_broadcast(the_team(), w, 2, 0);
    team_allreduce(the_team(), w[1], v[1], 3, longest);
    EXPECT(w[1][0], 3);
    team_reduce(TEAM_ALL, &t, &s, 1, TEAM_MUL, 1 % PROCS);
    EXPECT(t, MYPROC == 1 % PROCS ? (PROCS % 2 ? -1 : 1) : 5);
    team_allreduce(TEAM_ALL, &c, &c, 1, TEAM_MAX);
    EXPECT(c, PROCS - 1);
    EXPECT(calls, 3);
    EXPECT(rank, MYPROC);
    EXPECT(size, team_reduce_to_all_add(TEAM_NODE, 1));
    fetch_or(toglobal(0, &flags), 1 << MYPROC);
    sync_h(fetch_add_begin((int *)0, far, far[1]));
    barrier();
    EXPECT(table[0], 3 + MYPROC);
    on_one EXPECT(flags, (1 << PROCS) - 1);
    return failures;
}
