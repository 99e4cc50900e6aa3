#include <split-c/am.h>
#include <split-c/split-c.h>

double no_handler(void);

double no_handler(void)
{
    return 0;
}

int splitc_main(void)
{
    am_request_0(0, (am_handler)no_handler);
    barrier();
    return 0;
}
