// flags: -Werror
int *f(int *global g)
{
    return g;
}
