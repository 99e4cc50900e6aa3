int A[4]::[2];

void f(void)
{
    &A;
    &A[0];
    &A[1][1];
}
