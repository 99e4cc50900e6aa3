#include <split-c/split-c.h>

struct pair {
    int a, b;
};
struct pair both(struct pair *p);
int add(int *p, int by);
int nothing(void);
int number(int n);

void f(int *global g, double *global d, int (*pointer)(int *, int))
{
    int x = atomic(pointer, g, 1);
    x = atomic(add, g);
    x = atomic(add, g, 1, 2);
    x = atomic(add);
    x = atomic(nothing, g);
    x = atomic(number, g);
    x = atomic(missing, g);
    atomic(both, g);
    atomic(add, 3.5, 1);
    atomic(add, d, 1);
    void (*p)() = atomic;
    int inner(int *p);
    atomic(inner, g);
}
