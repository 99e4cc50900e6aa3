void take(int X[4]::[3]);
void raw(int *spread p);

void f(void *spread v)
{
    int A[4]::[3];
    int *spread p = A;
    int (*spread b)[3] = p;
    take(p);
    take(v);
    take(b);
    raw(A);
    raw(b);
}
