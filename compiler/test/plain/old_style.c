// flags: -std=gnu89
#include <stdio.h>

int global, spread = 3;
extern inline int two() { return 2; }
int two() { return 2; }
static count;
add(a, b, f, p)
    register a, b;
    double f;
    char *p;
{
    count++;
    return a + b + (int)f + *p;
}
static char *null() { return 0; }
char *(*pick(i))() int i; { return null; }

main(argc, argv)
    char **argv;
{
    auto n = 4;
    int inline_ = 5, (typeof_) = 6;
    printf("%d %d\n", add(1, 2, 3.9, "\1"), implicit(2));
    if (pick(1)() == 0) n = two();
    return n + count + inline_ + typeof_ + global + spread + argc - argc;
}

implicit(x) { return x * 10; }
