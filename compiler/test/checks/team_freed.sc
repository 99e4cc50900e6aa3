// ranks: 2
#include <split-c/team.h>

int splitc_main(void)
{
    splitc_team *team = all_split(MYPROC % 2, 0);

    team_free(team);
    team_barrier(team);
    return 0;
}
