int f(int *global p);
{
    int x = *p;
    return x;
}
int g(int *global p) { return f(p); }
int x;
{
    int y;
}
int z = w;
