int f(int x)
{
    if (x) {
        x++;
    return x;
}
static int g(int *global p)
{
    return *p;
}
