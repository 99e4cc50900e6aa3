struct s {
    unsigned a : 3;
};

void f(struct s *global g)
{
    g->a :- 1;
}
