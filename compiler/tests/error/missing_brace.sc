int f(int *global g)
{
    if (*g) {
        *g = 1;
    return 0;
}
