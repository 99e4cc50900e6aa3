#include <split-c/am.h>
#include <split-c/split-c.h>

static void g(int source)
{
}

static void f(int source)
{
    am_reply_0(source, g);
    am_reply_0(source, g);
}

int splitc_main(void)
{
    am_request_0(0, f);
    for (;;)
        splitc_poll();
    barrier();
    return 0;
}
