// ranks: 2
#include <split-c/am.h>
#include <split-c/split-c.h>

static void g(int source)
{
}

int splitc_main(void)
{
    am_request_0(PROCS, g);
    barrier();
    return 0;
}
