// SPDX-License-Identifier: BSD-3-Clause
struct s {
    int a[2];
};

void fill(int *global g);
void f(const struct s *global c, struct s *global p)
{
    fill(c->a);
    fill(p->a);
    p = c;
    c = p;
}
