#include <split-c/handle.h>
#include <split-c/team.h>

int f(int *global g, splitc_team *team)
{
    int x, y;
    splitc_handle h = bulk_get_h(&x, g, sizeof x);
    team_barrier(team);
    y = x;
    sync_h(h);
    bulk_put_h(g, &y, sizeof y);
    y = 3;
    sync();
    return x + y;
}
