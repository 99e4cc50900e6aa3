#include <split-c/am.h>
#include <split-c/split-c.h>

static void g(int source, am_word w)
{
}

static am_handler h = g;

int splitc_main(void)
{
    for (;;)
        am_request_0(0, h); /* is where processor 0 meets it, too */
}
