// flags: -w
int *f(int *global g)
{
    int n = g;
    return g;
}
