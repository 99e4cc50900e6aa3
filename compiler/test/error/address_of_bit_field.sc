struct s {
    unsigned a : 3;
};

void f(struct s *global g, struct s A[4]::)
{
    &g->a;
    &A[0].a;
    &(g->a);
}
