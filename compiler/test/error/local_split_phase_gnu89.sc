// flags: -std=gnu89
int f(int *global p)
{
    int x, *q;
    x := p;
    x := *p + 1;
    x + 1 := x;
    return x;
}
