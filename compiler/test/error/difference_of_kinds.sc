long f(int *global g, int *spread s, int *p)
{
    return (g - s) + (g - p) + (p - s);
}
