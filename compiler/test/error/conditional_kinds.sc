struct s {
    int a;
} s;

void f(int *global g, int n)
{
    n ? g : s;
    n ? 5 : g;
    n ? g : n;
}
