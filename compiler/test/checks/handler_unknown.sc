#include <split-c/am.h>
#include <split-c/split-c.h>

int splitc_main(void);

int splitc_main(void)
{
    am_request_0(0, (am_handler)splitc_main);
    barrier();
    return 0;
}
