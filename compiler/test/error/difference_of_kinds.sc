long f(int *global g, int *spread s, int *p)
{
    return (g - s) + (p - s);
}
