int *spread take(int *spread s);

int *spread f(int *global g)
{
    int *spread s = g;
    s = (int *spread)g;
    take(g);
    return g;
}
