struct s { int a; };
void f(struct s *global g)
{
    *g += 1;
}
