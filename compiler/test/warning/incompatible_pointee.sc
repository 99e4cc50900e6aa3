void take(double *global d);

void f(int *global g, double *spread s, void *global v, char *global c)
{
    int *global h = c;
    take(g);
    take(v);
    take(s);
    h = v;
}
