void keep(const int *p);

void f(int *global g, int *spread s)
{
    keep(g);
    keep(s + 1);
}
