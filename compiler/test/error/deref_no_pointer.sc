int f(int n, int *global g)
{
    return *n + **g + *f;
}
