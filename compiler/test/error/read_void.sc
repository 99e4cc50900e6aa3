void f(void *global g, void *spread s)
{
    int x = *g;
    x = *s;
    g + 1;
}
