#include <split-c/am.h>

int common_calls, calls_there;

static void handler(int source, am_word w)
{
    calls_there += w;
}

void common(int source, am_word w)
{
    common_calls += w;
}

void send_from_there(int dest)
{
    am_request_1(dest, handler, 20);
    am_request_1(dest, common, 2);
}
