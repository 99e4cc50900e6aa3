int f(int x)
{
    if (x) {
        x++;
    return x;
}
int g(int *global p)
{
    return *p;
}
int h(void)
{
    return 0;
}
