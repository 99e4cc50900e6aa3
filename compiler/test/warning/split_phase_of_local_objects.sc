// flags: -std=gnu89
int f(int y, int *global p, double *global d)
{
    int x, *global q;
    x := y;
    q := p;
    q := d;
    return x + *q;
}
