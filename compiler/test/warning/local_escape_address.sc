struct s {
    int n;
};

int *f(struct s *global g)
{
    return &g->n;
}
