// flags: -std=gnu89
int get(int *global g)
{
    int x;
    x := *g;
    sync();
    sync();
    return x;
}
