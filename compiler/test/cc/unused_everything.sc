static int f(int *global g, int u)
{
    int *global h;
    int A[4]::;
    int *spread s;
    char c = *g;
    float x = *g;
    x := *g;
    *g = 2.5;
    return *g > 1u;
}
