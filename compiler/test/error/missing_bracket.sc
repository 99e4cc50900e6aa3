int f(int *global g)
{
    int x = (*g + 1;
    x = g[2;
    if (x {
        x = 3;
    }
    return x;
}
