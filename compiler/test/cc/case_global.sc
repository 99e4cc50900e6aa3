int f(int *global g, int x)
{
    switch (x) {
    case *g:
        return 1;
    }
    return 0;
}
