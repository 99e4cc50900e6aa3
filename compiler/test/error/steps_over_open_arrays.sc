int *global (*spread tab)[];
int (*global g)[], (*global end)[];
int f(int tp, int ti)
{
    int *global p = (*(tab + tp))[ti];
    g++;
    g += 2;
    return *p + g[tp][ti] + (end - g) + (*g)[ti];
}
