#include <split-c/am.h>
#include <split-c/split-c.h>

static char from[20000], to[20000];

static void none(int source)
{
}

static void g(int source, am_word n)
{
    am_reply_xfer(source, from, to, n, 0, 0);
    am_reply(source, none);
}

int splitc_main(void)
{
    am_request(0, g, sizeof from);
    for (;;)
        splitc_poll();
    return 0;
}
