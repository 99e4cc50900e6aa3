struct s { int a; };
int f(struct s *global g)
{
    int x = *g;
    return x;
}
