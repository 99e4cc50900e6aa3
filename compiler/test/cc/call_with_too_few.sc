int h(int *global g, int x);
int f(int *global g)
{
    return h(g);
}
