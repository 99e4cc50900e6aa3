int f(void)
{
    int x, y;
    x := y;
    return x;
}
