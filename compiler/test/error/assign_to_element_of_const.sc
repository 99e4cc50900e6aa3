// SPDX-License-Identifier: BSD-3-Clause
typedef int row[2];
struct s {
    int a[2];
    row r;
    struct { int in; } inner;
};

void f(const struct s *global c, struct s *global p, const row *global rows)
{
    c->a[0] = 1;
    c->r[1]++;
    c->inner.in += 1;
    (*rows)[1] := 2;
    p->a[0] = 1;
    p->r[1]++;
}
