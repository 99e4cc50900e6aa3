int A[3]::[2];
void f(int (*global g)[4], int *q)
{
    *g = q;
    A[0] = q;
    A = q;
}
