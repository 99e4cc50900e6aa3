// ranks: 3
#include <split-c/collective.h>

int splitc_main(void)
{
    splitc_team *team = all_split(0, 0);
    long from[4] = {0}, to[16];

    team_barrier(team);
    if (MYPROC == 0)
        sync_h(team_allgather_begin(team, to, from, 3));
    else
        team_allgather(team, to, from, 4);
    return 0;
}
