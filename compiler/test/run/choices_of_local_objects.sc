// flags: -std=gnu89
//
// Choices, and what stands behind a comma, are objects, as to gcc until version 4.0.
#include <split-c/split-c.h>
#include "../check.h"

int A[4]::;
struct pair {
    int a, b;
} first, second;

splitc_main()
{
    int c = 1, x = 0, y = 0, n = 0, *p = &x, *q = &y, *to;
    double d = 0, f = 0;
    struct pair whole = {7, 8};
    int *global g = toglobal(MYPROC, &n), *global h = g, *global far;

    (c ? x : y) = 3;
    (c, x) += 2;
    (c ? x : y)++;
    ++(c - 1 ? x : (y));
    EXPECT(x, 6);
    EXPECT(y, 1);
    (c++, c++, *g) = 4;
    EXPECT(c, 3);
    (c, *g) += 2;
    (c++, (*g))++;
    EXPECT(n, 7);
    EXPECT(c, 4);
    (c ? first : second) = whole;
    EXPECT(first.b, 8);
    (c ? first.a : second.b) = 5;
    EXPECT(first.a, 5);
    (c ? d : f) = 2.5;
    EXPECT(2 * d, 5);
    (c ? p : q)++;
    EXPECT(p - &x, 1);
    (c ? g : h)++;
    EXPECT(g - h, 1);
    g--;
    (c, x) := *g;
    sync();
    EXPECT(x, 7);
    (c ? y : x) := (c, *g);
    sync();
    EXPECT(y, 7);
    (x, *g) := 9;
    sync();
    EXPECT(n, 9);
    (c, *g) :- 11;
    all_store_sync();
    EXPECT(n, 11);
    to = &(c ? x : y);
    *to = 12;
    to = &(c, y);
    *to = 13;
    EXPECT(x + y, 25);
    (c > 9 ? x : c ? (first.b = 14, y) : x) += 2;
    EXPECT(first.b + y, 29);
    (c ? first : second).a = 16;
    EXPECT(first.a, 16);
    far = &(c ? A[0] : A[1]);
    EXPECT(far == &A[0], 1);
    return failures;
}
