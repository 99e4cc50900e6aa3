void f(int (*global g)[4], int A[3]::[2], int *q)
{
    *g = q;
    A[0] = q;
    A = q;
}
