int no_prototype();

int f(int *global g, int *spread s)
{
    struct pair *nowhere;
    return no_prototype(g, s) + missing(*g, s) + nowhere->a;
}
