int f(short *global g, unsigned n, char *global c)
{
    *g += n;
    *c++;
    g[n];
    *g == 3;
    if (*g = 3)
        return *g < n;
    return *c;
}
