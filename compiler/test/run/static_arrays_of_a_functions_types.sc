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

static int defined_in_dimensions(void)
{
    static int A[sizeof(struct { int x[4]; })]::;
    static int B[sizeof(struct own { int x[2]; })]::[sizeof(struct own)];
    static char C[sizeof(union { char c; double d; }[2])]::[sizeof(struct { char c; })];
    static struct own D[sizeof((struct pair { int a, b; }){0})]::;
    struct own local = {{1, 2}};

    EXPECT(sizeof A, 16 * 4);
    EXPECT(sizeof B, 8 * 8 * 4);
    EXPECT(sizeof C, 16);
    EXPECT(sizeof D, 8 * sizeof(struct pair));
    int size = sizeof A + sizeof A + sizeof B;
    EXPECT(size, 384);
    on_one D[7].x[1] = local.x[0] + local.x[1];
    barrier();
    return D[7].x[1];
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
        EXPECT(defined_in_dimensions(), 3);
    }
    return failures;
}
