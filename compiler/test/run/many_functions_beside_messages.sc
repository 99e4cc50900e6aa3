// flags: -std=gnu89
// ranks: 2
#include <split-c/am.h>
#include <split-c/split-c.h>
#include "../check.h"

/* A program may have more functions of old style in a table than there can be handlers. */
#define ONE(a) int command##a() { return 1##a; }
#define TEN(a) ONE(a##0) ONE(a##1) ONE(a##2) ONE(a##3) ONE(a##4) ONE(a##5) ONE(a##6) ONE(a##7) ONE(a##8) ONE(a##9)
#define HUNDRED(a) TEN(a##0) TEN(a##1) TEN(a##2) TEN(a##3) TEN(a##4) TEN(a##5) TEN(a##6) TEN(a##7) TEN(a##8) TEN(a##9)
HUNDRED(1)
HUNDRED(2)
HUNDRED(3)
#undef ONE
#define ONE(a) command##a,

extern int never_defined();
int (*commands[])() = {HUNDRED(1) HUNDRED(2) HUNDRED(3)};
int calls;

void count()
{
    calls++;
}

int splitc_main()
{
    if (sizeof(&never_defined) == 1)
        return 1;
    EXPECT(commands[299](), 1399);
    am_request_2((MYPROC + 1) % PROCS, count, 1, 2);
    while (calls == 0)
        am_poll();
    barrier();
    return failures;
}
