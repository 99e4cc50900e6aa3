#include <split-c/am.h>
#include <split-c/split-c.h>

void none(int source);
void two(int source, am_word a, am_word b);
void real(int source, am_word a, double d);
void block(int source, void *address, splitc_size n, am_word arg);
void larger(int source, void *address, int n, int a, int b, int c, int d);

void f(int dest, void *a)
{
    am_request(dest, two, 1);
    am_reply(dest, none, 1, 2, 3, 4);
    am_request_df(dest, two, 1, 2.0);
    am_reply_df(dest, real, 2.0);
    am_request_medium(dest, block, a, 3);
    am_reply_medium(dest, larger, a, 3, 1, 2);
    am_reply_xfer(dest, a, a, 8, larger, 1);
    am_request(dest, two, a, 2);
    am_request_df(dest, real, a, 2.0);
    am_request_medium(dest, block, a, 3, a);
    am_reply_medium(dest, larger, a, 3, 1, 2, 3, 4);
    am_reply_xfer(dest, a, a, 8, block, 1);
    am_reply_xfer(dest, a, a, 8, 0, 1);
}
