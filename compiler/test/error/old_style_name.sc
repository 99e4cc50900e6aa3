int f(a, b)
int *global a;
int c;
{
    return *a + b;
}
