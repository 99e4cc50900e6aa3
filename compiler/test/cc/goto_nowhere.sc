int f(int *global g)
{
    goto out;
    return *g;
}
