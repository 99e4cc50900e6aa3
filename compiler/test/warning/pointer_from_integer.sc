int *global f(long n)
{
    int *global g = 5;
    int *spread s = n;
    g = 0;
    g = (int *global)n;
    return n;
}
