#include <split-c/split-c.h>
#include "../check.h"

static int next[PROCS]::;

/* Casts inside casts are translated once each. */
int splitc_main(void)
{
    next[MYPROC] = (MYPROC + 1) % PROCS;
    barrier();
    EXPECT(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(next[(long)(0)])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])])],
           60 % PROCS);
    barrier();
    return failures;
}
