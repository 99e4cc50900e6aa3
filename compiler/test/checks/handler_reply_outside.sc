#include <split-c/am.h>
#include <split-c/split-c.h>

static void g(int source)
{
}

int splitc_main(void)
{
    am_reply_0(0, g);
    barrier();
    return 0;
}
