struct s { int a; };
int f(struct s *global g)
{
    return *g + 1;
}
