void f(int *global g)
{
    const int x = 0;
    x = *g;
}
