// SPDX-License-Identifier: BSD-3-Clause
#include <split-c/split-c.h>
#include "../check.h"

/* The sizes of static spread arrays in functions are those of the types that are visible there. */

struct cell { char c; };
#pragma pack(1)
struct tight { char c; int i; };
#pragma pack()
enum { MANY = 2 };

static int inner(void)
{
    struct cell { double d[4]; };
    typedef struct cell block;
    enum { MANY = 5 };
    static struct cell A[MANY]::[MANY - 2];
    static int B[sizeof(struct cell)]::, C[PROCS]::[sizeof(block) / 8], D[sizeof(block[2])]::[3];
    static block E[sizeof(struct tight)]::;

    EXPECT(sizeof A, 5 * 3 * 32);
    EXPECT(sizeof B, 32 * 4);
    EXPECT(sizeof C, PROCS * 4 * 4);
    EXPECT(sizeof D, 64 * 3 * 4);
    EXPECT(sizeof E, 5 * 32);
    on_one {
        A[4][2].d[3] = 1;
        B[31] = 20;
        C[PROCS - 1][3] = 300;
        D[63][2] = 4000;
        E[4].d[3] = 50000;
    }
    barrier();
    int sum = A[4][2].d[3] + B[31] + C[PROCS - 1][3] + D[63][2] + E[4].d[3];
    barrier();
    return sum;
}

static int outer(void)
{
    static struct cell A[MANY]::;
    static struct tight B[3]::[2];
    static char C[sizeof(struct tight)]::;

    EXPECT(sizeof A, 2);
    EXPECT(sizeof B, 30);
    EXPECT(sizeof C, 5);
    on_one {
        A[1].c = 1;
        B[2][1].i = 20;
        C[4] = 3;
    }
    barrier();
    int sum = A[1].c + B[2][1].i + C[4];
    barrier();
    return sum;
}

int splitc_main(void)
{
    for (int i = 0; i < 2; i++) {
        EXPECT(inner(), 54321);
        EXPECT(outer(), 24);
    }
    return failures;
}
