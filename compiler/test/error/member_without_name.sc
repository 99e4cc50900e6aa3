// SPDX-License-Identifier: BSD-3-Clause
struct s {
    int;
    int *global;
    int *global g, ;
    double d
    int last;
};

int f(struct s *global p)
{
    return p->last + p->;
}
