#include <split-c/split-c.h>
#include "../check.h"

int cell;

static int read_it(int *global p)
{
    return *p;
}

static int apply(int f(int *global), int *global p)
{
    return f(p);
}

static int apply2(int (*f)(int *global p), int *global *ps, int n)
{
    return n ? f(ps[0]) + apply2(f, ps + 1, n - 1) : 0;
}

static int sum_array(int *global ps[], int n)
{
    int total = 0;
    while (n--)
        total += **ps++;
    return total;
}

static int variadic(int n, ...)
{
    __builtin_va_list args;
    int total = 0;
    __builtin_va_start(args, n);
    while (n--)
        total += *__builtin_va_arg(args, int *global);
    __builtin_va_end(args);
    return total;
}

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, &cell), *global both[2] = {g, toglobal(0, &cell)};

    cell = 4 + MYPROC;
    barrier();
    EXPECT(apply(read_it, g), 3 + PROCS);
    EXPECT(apply2(&read_it, both, 2), 7 + PROCS);
    EXPECT(sum_array(both, 2), 7 + PROCS);
    EXPECT(variadic(3, g, both[1], g), 2 * (3 + PROCS) + 4);
    EXPECT((*read_it)(g), 3 + PROCS);
    barrier();
    return failures;
}
