struct s {
    const int fixed;
    int open;
};

void f(const int *global g, struct s *global s, const struct s *global c, int *global const p)
{
    *g = 1;
    g[2]++;
    s->fixed += 2;
    s->open = 3;
    c->open = 4;
    *p = 5;
    *g := 6;
    *g :- 7;
}
