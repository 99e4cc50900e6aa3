void f(const int *global g, volatile int *global v)
{
    int *global p = g;
    const int *global q = p;
    p = v;
    p = q;
}
