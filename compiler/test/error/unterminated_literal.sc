// flags: -w
int f(int *global g)
{
    return *g + 'a;
}
