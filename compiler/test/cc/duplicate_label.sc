int f(int *global g)
{
x:
    *g = 1;
x:
    return 0;
}
