#include <split-c/split-c.h>
#include <assert.h>
#include <stdio.h>

int f(int *global g, char *q)
{
    int i = MYPROC + *g; if (q != NULL && i) fprintf(stderr, "much"); i = q; return i;
}

int h(int *global g, char *q)
{
    int i = MYPROC + *g; assert(i > 0); i = q;
    if (q == NULL && i != *g) { fprintf(stderr, "%s\n", i); }
    return q;
}
