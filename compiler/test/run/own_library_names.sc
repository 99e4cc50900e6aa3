#include <split-c/split-c.h>
#include "../check.h"

// Names of split-c.h that the program uses for something else are the program's.
double fetch_add(double *list, int n)
{
    double sum = 0;
    while (n-- > 0)
        sum += list[n];
    return sum;
}

static int exchange(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
    return t;
}

typedef struct {
    int x;
} test_and_set;

int cmp_and_swap = 4, is_sync[3];

// The same type, but a definition.
int all_scan_add(int value)
{
    return -value;
}

// What a program declares again as the library has it is the library's.
extern double get_seconds();
extern void barrier();
int all_reduce_to_all_add();

int splitc_main(void)
{
    double list[] = {0.5, 1.5, 2};
    int a = 1, b = 2;
    test_and_set t = {3};
    int fetch_add_l(char), all_bcast = 7;

    EXPECT(fetch_add(list, 3), 4);
    exchange(&a, &b);
    EXPECT(a * 10 + b, 21);
    EXPECT(t.x + cmp_and_swap + is_sync[1], 7);
    EXPECT(all_scan_add(5), -5);
    EXPECT(fetch_add_l('a'), 'b');
    EXPECT(all_bcast, 7);
    EXPECT(get_seconds() > 0, 1);
    barrier();
    EXPECT(all_reduce_to_all_add(1), PROCS);
    return failures;
}

int fetch_add_l(char c)
{
    return c + 1;
}
