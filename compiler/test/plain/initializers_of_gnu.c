// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>

struct p { int x, y; struct { int a[3]; } in; };
static struct p q = { y: 3, x: 2, .in.a[1] = 7, .in.a[2] = 5 };
static int ranges[] = { [0 ... 3] = 1, [2] = 9, [5 ... 6] = 4, 8 };
static int old[4] = { [1] 5, [3] 6 };
static int grid[2][3] = { [1][2] = 4, [0] = { 1, 2 }, };
static struct { int n; char data[]; } flex = { 2, { 'a', 'b' } };
static struct p many[] = { { 1 }, [3].in.a[0] = 6, [1] = { .y = 2 }, { 9 } };
static int scalar = { 3 };
static struct empty {} nothing = {};
union v { char c; int i; double d; } u = { .d = 2.5 }, w = { 'c' };
static char name[] = { 'a', [4] = 'e', 0 };
static int *address = &ranges[3], *middle = (int *)((char *)grid + 4);
static const struct p *literal = &(struct p){ 4, 5 };
static unsigned long size = sizeof (struct p){ 1 }.in;

int main(void)
{
    struct p local = { .in = q.in, .x = q.y };
    int v[] = { local.x, [3] = local.in.a[2] }, empty[0] = {};
    printf("%d %d %d %d\n", q.x, q.y, q.in.a[1], q.in.a[2]);
    for (unsigned i = 0; i < sizeof ranges / sizeof *ranges; i++) printf("%d ", ranges[i]);
    printf("%d %d %d %c %d\n", old[1], old[3], grid[1][2], flex.data[1], *middle);
    printf("%d %d %d %zu\n", many[2].x, many[1].y, many[3].in.a[0], sizeof many / sizeof *many);
    printf("%d %zu %g %c %zu %d\n", scalar, sizeof nothing, u.d, w.c, sizeof name, *address);
    printf("%d %d %zu %zu %lu\n", literal->y, v[3], sizeof v, sizeof empty, size);
    return local.in.a[2] + (struct p){ .y = 2 }.y + ((int[]){ 1, 2, 3 })[1];
}
