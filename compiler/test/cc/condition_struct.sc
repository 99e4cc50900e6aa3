struct s { int a; };
int f(struct s *global g)
{
    if (*g)
        return 1;
    return 0;
}
