int f(int *global g, int *spread s, int n, double d)
{
    return g == 5 || s < n || g != d || g == 0;
}
