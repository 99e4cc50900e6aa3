int *pick(int n, int *global g, int *p)
{
    int *q = n ? g : p;
    p = n ? 0 : g;
    return n ? p : g + 1;
}
