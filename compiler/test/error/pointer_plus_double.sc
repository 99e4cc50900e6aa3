void f(int *global g, int *spread s, double d)
{
    g + d;
    s - 1.5;
    g[d];
    g += d;
    s *= 2;
}
