#include <split-c/split-c.h>

int in_body(int *global g, int n)
{
    int x, sum = 0;
    x := *g;
    for (int i = 0; i < n; i++)
        sum += x;
    return sum;
}

int in_condition(int *global g)
{
    int x;
    x := *g;
    while (x > 0)
        sync();
    return x;
}

int after_one_round(int *global g)
{
    int x;
    do {
        x := *g;
    } while (0);
    return x;
}
