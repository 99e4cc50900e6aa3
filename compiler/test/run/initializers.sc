#include <split-c/split-c.h>
#include "../check.h"

struct inner {
    int n;
    int *global g;
};
struct outer {
    struct inner a[2];
    char name[4];
    double *spread s;
    union {
        int *global u;
        long bits;
    };
};

int value = 3;
struct outer zero = {0};
struct outer nested = {{{1, NULL}, {2, 0}}, "abc", NULL, {0}};
struct outer elided = {1, 0, 2, (void *)0, "xy", 0, 0};
struct inner list[] = {{1}, {.g = 0, .n = 2}, [4] = {5, NULL}, 6, 0};
int *global empty[3] = {NULL, 0};
static int *spread rows[2][2] = {{0}, {NULL, 0}};

int splitc_main(void)
{
    int *global g = toglobal(MYPROC, &value);
    struct inner one = {7, &value};
    struct outer local = {.name = "q", .a[1].g = g, .a = {[0] = {.n = 8}}, .u = g};
    struct outer flat = {1, g, 2, &value, 'a', 'b', 0, 0, 0, g};
    int *global copies[2][2] = {g, &value, [1] = {[1] = g}};
    struct inner *p = (struct inner[]){{1, g}, {2, &value}};
    int *global braced = {g};

    EXPECT(zero.a[1].g == NULL && zero.s == NULL && zero.u == 0, 1);
    EXPECT(nested.a[1].n, 2);
    EXPECT(elided.a[1].n == 2 && elided.name[1] == 'y' && elided.u == NULL, 1);
    EXPECT(sizeof list / sizeof *list, 6);
    EXPECT(list[1].n + list[4].n + list[5].n, 13);
    EXPECT(empty[2] == NULL && rows[1][1] == NULL, 1);
    EXPECT(*one.g, 3);
    EXPECT(local.a[1].g == NULL, 1); // overridden by the later .a
    EXPECT(local.a[0].n + *local.u, 11);
    EXPECT(*flat.a[0].g + *flat.a[1].g + *flat.u, 9);
    EXPECT(flat.name[1], 'b');
    EXPECT(*copies[0][1] + *copies[1][1], 6);
    EXPECT(copies[1][0] == NULL, 1);
    EXPECT(*p[1].g, 3);
    EXPECT(*braced, 3);
    return failures;
}
