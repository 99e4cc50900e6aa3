// SPDX-License-Identifier: BSD-3-Clause
#include <stdio.h>
#include <stdlib.h>

static int calls;
static int n(void) { return ++calls; }

int main(int argc, char **argv)
{
    int k = argc + 3;
    typedef int row[k];
    row *table = malloc(3 * sizeof *table);
    struct { int head; int body[k]; int tail; } s;
    int a[k][k + 1], (*p)[k + 1] = a, (*q)[k][k + 1] = &a;
    k = 100;
    table[2][1] = 6;
    (*q)[2][3] = 7;
    s.tail = sizeof s;
    printf("%zu %zu %zu %zu %d\n", sizeof(row), sizeof *p, sizeof a, sizeof *q, s.tail);
    printf("%d %d %d\n", p[2][3], table[2][1], (int)(sizeof(int[n()]) / 4));
    for (int i = 1; i < 4; i++) { char v[i]; v[i - 1] = i; calls += sizeof v + v[i - 1]; }
    goto skip;
skip:;
    int late[calls];
    late[0] = ((int (*)[n()])late)[0][0] = 5;
    printf("%zu %d %d\n", sizeof late, calls, late[0]);
    typeof(a) copy; typeof(a[0]) one; __auto_type pp = &a;
    printf("%zu %zu %zu\n", sizeof copy, sizeof one, sizeof *pp);
    free(table);
    return 0;
}
