void take(double d);

double f(int *global g)
{
    double d = g;
    take(g);
    return g;
}
