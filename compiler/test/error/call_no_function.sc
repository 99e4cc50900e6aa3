int f(int n, int *global g)
{
    return n(1) + g(2) + (*g)(3);
}
