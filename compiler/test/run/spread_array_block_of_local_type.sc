#include <split-c/split-c.h>
#include "../check.h"

enum { OUTER = 3 };

// What a static array's shape is made of is known only inside the function.
static int count(int n)
{
    enum { INNER = 2 };
    struct local {
        char c[7];
        int n;
    };
    typedef struct local row[INNER];
    static struct local A[INNER * PROCS]::[OUTER];
    static row B[PROCS]::;

    A[MYPROC][2].n = n;
    B[MYPROC][1].n = n + 1;
    barrier();
    n = A[PROCS - 1][2].n + B[PROCS - 1][1].n;
    barrier();
    return n;
}

int splitc_main(void)
{
    EXPECT(count(5), 11);
    EXPECT(count(6), 13);
    return failures;
}
