#include <split-c/split-c.h>
#include "../check.h"

struct s {
    char c;
    int *global g;
    double *spread d[3];
};
int A[5][PROCS]::[3][2];

static int calls;

static int *global touch(int *global p)
{
    calls++;
    return p;
}

int splitc_main(void)
{
    int *global g = 0;
    char(*global row)[7] = 0;
    struct s *global s = 0;
    int *global table[] = {0, g, 0};
    typedef double block[4];

    EXPECT(sizeof g, 8);
    EXPECT(sizeof(int *global), 8);
    EXPECT(sizeof(char *spread), 8);
    EXPECT(sizeof *g, 4);
    EXPECT(sizeof g[3], 4);
    EXPECT(sizeof *touch(g), 4);
    EXPECT(sizeof touch(g), 8);
    EXPECT(calls, 0);
    EXPECT(sizeof *row, 7);
    EXPECT(sizeof(struct s), 40);
    EXPECT(sizeof s->d, 24);
    EXPECT(sizeof *s->d[1], 8);
    EXPECT(sizeof table, 24);
    EXPECT(sizeof(block *global), 8);
    EXPECT(sizeof(int *global[3]), 24);
    EXPECT(sizeof(int *global(*)(void)), 8);
    EXPECT(sizeof A[0][0], 24);
    EXPECT(sizeof A[0][0][1], 8);
    EXPECT(sizeof A[1][0][1][1], 4);
    EXPECT(_Alignof(int *global), 8);
    EXPECT(_Alignof(struct s), 8);
    EXPECT(__alignof__(*g), 4);
    EXPECT(sizeof(g == 0), 4);
    EXPECT(sizeof(g - g), 8);
    EXPECT(sizeof(char[sizeof(int *global)]), 8);
    EXPECT(sizeof(1 ? g : 0), 8);
    return failures;
}
