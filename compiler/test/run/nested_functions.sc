// ranks: 1 3
// flags: -std=gnu89
// not with clang
// SPDX-License-Identifier: BSD-3-Clause
//
// Functions inside functions, of GNU C, with far pointers in and around them; names of functions in
// string literals, as gcc had them until version 3.4.
#include <split-c/split-c.h>
#include <stdlib.h>
#include <string.h>

int A[8]::;
int ours[2] = {3, 4};

#define HERE __FUNCTION__ ": "

double outer(int *global p, double scale)
{
    double total = 0;
    auto double twice(double x); /* declared before it is defined */
    struct cell { int value; int *global next; } cell;

    int *global next(int *global q, int steps)
    {
        cell.next = q + steps;
        return cell.next;
    }
    void add(q)
        int *global q;
    {
        total += *q * scale;
    }
    int *near(int *q)
    {
        return q;
    }
    double twice(double x)
    {
        int half(int y) { return y / 2; }
        return half(4) * x;
    }

    add(p);
    *near(&cell.value) = 4;
    add(next(p, 1));
    return twice(total); /* a double, whatever the functions inside return */
}

int *global behind(int *p)
{
    int one(void) { return 1; }
    return p + one(); /* made a global pointer, whatever the function inside returns */
}

int compare_by(int *keys, int a, int b)
{
    int compare(const void *x, const void *y)
    {
        return keys[*(const int *)x] - keys[*(const int *)y];
    }
    int order[2];
    order[0] = a;
    order[1] = b;
    qsort(order, 2, sizeof order[0], compare);
    return order[0];
}

int nested_barrier(void)
{
    int barrier(void) { return 5; } /* no call of the library's */
    return barrier();
}

int through(int n)
{
    __label__ out;
    int found = -1;
    void look(int i)
    {
        if (i == n) {
            found = A[i];
            goto out;
        }
        look(i + 1);
    }
    look(0);
out:
    return found;
}

int splitc_main(void)
{
    int keys[3], i;
    const char *where = HERE "here";

    keys[0] = 5, keys[1] = 1, keys[2] = 3;
    for_my_1d(i, 8)
        A[i] = 10 * i;
    barrier();
    if (outer(toglobal(0, ours), 0.5) != 7)
        return 1;
    if (toproc(behind(ours)) != MYPROC || *behind(ours) != 4)
        return 5;
    if (compare_by(keys, 0, 2) != 2 || compare_by(keys, 0, 1) != 1)
        return 2;
    if (nested_barrier() != 5 || through(6) != 60)
        return 3;
    if (strcmp(where, "splitc_main: here") != 0 || strlen("in " __PRETTY_FUNCTION__) != 14)
        return 4;
    barrier();
    return 0;
}
