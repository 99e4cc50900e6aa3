// SPDX-License-Identifier: BSD-3-Clause
struct s {
    int *global g;
}
struct t {
    int a;
}
int f(struct s *p, struct t *q)
{
    return *p->g + q->a + missing;
}
struct u { int a; } int b;
int int *c;
struct t struct s d;
