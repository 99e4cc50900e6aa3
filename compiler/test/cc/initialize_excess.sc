void f(int *global g)
{
    int *global a[1] = {g, g};
}
