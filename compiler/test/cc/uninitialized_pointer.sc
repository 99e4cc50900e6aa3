int f(void)
{
    int *global g;
    return *g;
}
