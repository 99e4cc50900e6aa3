int f(int *global g)
{
    int x;
    g[1] :-= 3;
    *g :+= 1;
    x :|= 2;
    return x ? 1 :-1;
}
