#include <split-c/split-c.h>
#include "../check.h"

int *global g;
int *spread s;
static struct {
    int *global g;
    double *spread s;
} both;

static int is_null(void *global p)
{
    return !p;
}

int splitc_main(void)
{
    int value, *none = 0;

    EXPECT(g == NULL && NULL == g && g == 0 && !g, 1);
    EXPECT(s == NULL && 0 == s && !(s != NULL), 1);
    EXPECT(both.g == 0 && both.s == NULL, 1);
    g = none;
    EXPECT(g == NULL, 1);
    g = (int *global)none;
    EXPECT(g ? 1 : 2, 2);
    g = toglobal(MYPROC, &value);
    EXPECT(g != NULL && g && !!g, 1);
    EXPECT(g || 0, 1);
    EXPECT(is_null(NULL) + is_null(0) + is_null(g) + is_null(none) + is_null(((void *)0)), 4);
    g = 0;
    s = (void *)0;
    while (g || s)
        return 1;
    if (g)
        return 2;
    for (; s;)
        return 3;
    EXPECT((int *)g == NULL, 1);
    EXPECT((int *)s == NULL, 1);
    EXPECT((int *global)s == NULL, 1);
    return failures;
}
