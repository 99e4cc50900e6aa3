int f(void)
{
    int global *p;
    int global *q;
    global int *r;
    spread double *s;
    return 0;
}
