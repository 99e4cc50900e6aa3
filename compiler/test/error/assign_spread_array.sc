int A[8]::, B[8]::;

void f(void)
{
    A = B;
    A++;
}
