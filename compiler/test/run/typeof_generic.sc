#include <split-c/split-c.h>
#include "../check.h"

#define KIND(e)                                                                                    \
    _Generic((e), int *: 1, int *global: 2, int *spread: 3, double *global: 4, int: 5, default: 6)
#define MAX(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define SWAP(a, b) do { typeof(a) t_ = (a); (a) = (b); (b) = t_; } while (0)

int cells[4];
double reals[4];

int splitc_main(void)
{
    int *global g = toglobal(PROCS - 1, cells), *global h = g + 3;
    int *spread s = 0;
    double *global d = toglobal(MYPROC, reals);
    typeof(g) copy = g;
    typeof(*g) plain = 3;
    typeof(int *global) typed = h;
    __typeof__(&g[1]) third;
    typeof(g) pair[2] = {g, h};
    __auto_type deduced = h;

    cells[0] = MYPROC;
    cells[3] = 30;
    barrier();
    EXPECT(KIND(g), 2);
    EXPECT(KIND(s), 3);
    EXPECT(KIND(d), 4);
    EXPECT(KIND(*g), 5);
    EXPECT(KIND(cells), 1);
    EXPECT(KIND(&g), 6);
    EXPECT(KIND(&*g), 2);
    EXPECT(_Generic(g, int *global: *g, default: 77), PROCS - 1);
    EXPECT(*copy + plain, PROCS + 2);
    EXPECT(*typed + *deduced + *pair[1], 90);
    third = &g[1];
    EXPECT(third - g, 1);
    EXPECT(MAX(*g, *h), 30);
    EXPECT(*MAX(g, h), 30);
    SWAP(g, h);
    EXPECT(*g, 30);
    EXPECT(__builtin_types_compatible_p(typeof(*g), int), 1);
    EXPECT(__builtin_choose_expr(1, *g, g), 30);
    barrier();
    return failures;
}
