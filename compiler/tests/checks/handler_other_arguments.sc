#include <split-c/am.h>
#include <split-c/split-c.h>

static void g(int source, am_word w)
{
}

static am_handler h = g;

int splitc_main(void)
{
    am_request_0(0, h);
    for (;;)
        splitc_poll();
    barrier();
    return 0;
}
