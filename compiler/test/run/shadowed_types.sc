#include <split-c/split-c.h>
#include "../check.h"

struct s {
    int a;
};
typedef struct {
    int b[2];
} T;
enum e { ONE = 1 };
typedef unsigned short U;

struct s object;
T other;
enum e one;
U small;

// What is read has the type it was declared with, whatever the name means here.
int splitc_main(void)
{
    struct s *global gs = toglobal(MYPROC, &object);
    T *global gt = toglobal(MYPROC, &other);
    enum e *global ge = toglobal(MYPROC, &one);
    U *global gu = toglobal(MYPROC, &small);
    T *spread st = tospread(MYPROC, &other);

    object.a = 5;
    other.b[1] = 6;
    one = ONE;
    small = 7;
    {
        struct s {
            char c[100];
        } s = {{1}};
        int T = 2;
        struct e {
            char c[7];
        } U = {{3}};
        EXPECT(gs->a, 5);
        EXPECT((*gs).a, 5);
        EXPECT(gt->b[1], 6);
        EXPECT(*ge, 1);
        EXPECT(*gu, 7);
        EXPECT(sizeof *gs + sizeof *gt, 12);
        EXPECT((char *)(gs + 1) - (char *)gs, 4);
        EXPECT((st + PROCS)->b == (st + PROCS)->b, 1);
        EXPECT((char *)(st + PROCS) - (char *)st, 8);
        gt->b[1] += T;
        *gu *= U.c[0];
        ++gs->a;
        *ge = *ge;
        EXPECT(s.c[0], 1);
    }
    EXPECT(object.a + other.b[1] + small, 6 + 8 + 21);
    return failures;
}
