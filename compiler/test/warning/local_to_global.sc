// SPDX-License-Identifier: BSD-3-Clause
// flags: -Wall
struct zz {
    int a;
} z;
enum kind { One, Two };
void take(int *global g);
int *global give(float *f)
{
    return f;
}

void f(float *f, const int *c, volatile int *v, struct zz *s, unsigned *u, void *any, int *right)
{
    int *global g = f;
    const int *global gc = right;
    float *global gf = (float *)right;
    char *global text = "x";
    void *global nothing = c;
    int (*global rows)[3] = (int (*)[4])any;
    const int (*matrix)[3] = 0;
    g = c;
    g = v;
    g = s;
    g = &z.a;
    g = "x";
    g = u;
    g = any;
    g = 0;
    g = (int *)f;
    rows = matrix;
    take(f);
    take(&s->a);
    take(gf == f ? right : right);
    *(int *global *)&g = f;
    (void)(g == f), (void)(g == any), (void)(gc == right);
    g = gf ? right : g;
    g = gf ? f : g;
    struct { int *global p; } both = {f};
    unsigned *global of_enum = (enum kind *)0 + 1;
    (void)text, (void)nothing, (void)both, (void)of_enum, (void)rows;
}
