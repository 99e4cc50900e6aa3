struct s {
    int a;
} s;

void f(int *global g)
{
    g = s;
    s = g;
    (int *global)s;
    (double)g;
    (int *spread)1.0;
}
