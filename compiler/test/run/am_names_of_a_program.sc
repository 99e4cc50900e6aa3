#include <split-c/split-c.h>
#include "../check.h"

/* Without split-c/am.h its names are the program's. */
static int am_poll(void)
{
    return 3;
}

int am_request_1(int a)
{
    return a + 1;
}

int splitc_main(void)
{
    int am_word = 2;

    EXPECT(am_poll() + am_request_1(am_word), 6);
    return failures;
}
