int f(int *global g)
{
    int inner(int x)
    {
        return x + *g;
    }
    return inner(2);
}
