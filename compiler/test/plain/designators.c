#include <stdio.h>

struct in { int a, b[3]; };
struct out { struct in x[2]; int n; union { int u; float f; }; } o = {
    .x[1].b[2] = 5, 6, .u = 7, .x = {[0] = {.b = {1, [2] = 3}}, {4}}};
int ranges[] = {[0 ... 3] = 9, [6] = 2, 1, [1] = 8};
int old[5] = {[2] 7, 8};
struct in gnu = {a: 3, b: {1, 2}};
char *names[] = {[2] = "two", [0] = "zero"};
int grid[][2] = {1, 2, {3}, 4, 5};
struct in *literal = &(struct in){1, {2, 3, 4}};
const char text[] = {"braced"}, more[3] = "abc";

int main(void)
{
    printf("%d %d %d %d\n", o.x[0].b[2], o.x[1].a, o.u, o.n);
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++)
        printf("%d ", ranges[i]);
    printf("%d %d %d %s %zu %d %zu %d\n", old[3], gnu.b[1], literal->b[2], names[2], sizeof names,
           grid[2][1], sizeof text, more[2]);
    return (int[]){1, 2, 3}[1] + ((struct in){.a = 4}).a;
}
