void take(int *global g);

int *global f(double d)
{
    int *global g = d;
    g = 1.5;
    take(d);
    return d;
}
