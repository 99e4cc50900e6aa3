int f(int *global g)
{
    int x = *g
    x++;
    *g = x
}
int *global h
int y;
