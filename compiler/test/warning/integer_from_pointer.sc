long f(int *global g, int *spread s)
{
    int n = g;
    unsigned long u = s;
    u = (unsigned long)s;
    return g;
}
