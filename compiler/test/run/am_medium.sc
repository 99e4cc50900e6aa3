#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"
#include <string.h>

static int answers;

static void on_back(int source, void *bytes, splitc_size n, am_word arg)
{
    EXPECT(n, arg);
    for (splitc_size i = 0; i < n; i++)
        if (((char *)bytes)[i] != (char)(i ^ 1))
            failures = 1;
    answers++;
}

/* The storage is the handler's until it returns. */
static void on_request(int source, void *bytes, splitc_size n, am_word arg)
{
    EXPECT(n, arg);
    for (splitc_size i = 0; i < n; i++)
        ((char *)bytes)[i] ^= 1;
    am_reply_medium(source, on_back, bytes, n, arg);
}

int splitc_main(void)
{
    static char bytes[10000];
    splitc_size largest = am_max_medium(), size[] = {0, 1, 8, 16, 17, 1000, largest};
    int asked = 0;

    EXPECT(largest >= 8000 && largest <= sizeof bytes, 1);
    for (int i = 0; i < (int)sizeof bytes; i++)
        bytes[i] = i;
    for (int p = 0; p < PROCS; p++)
        for (int i = 0; i < 7; i++, asked++)
            am_request_medium(p, on_request, bytes, size[i], size[i]);
    while (answers < asked)
        splitc_poll();
    barrier();
    return failures;
}
