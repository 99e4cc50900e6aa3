int f(int *global g)
{
    int a = @ *g;
    a = 3 $ 4;
    return a;
}
