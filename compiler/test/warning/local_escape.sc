int *f(int *global g, int *spread s, int *p)
{
    int *local = g;
    local = s;
    p = (int *)g;
    return g;
}
