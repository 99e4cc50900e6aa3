int A[4]:: = {1, 2, 3, 4};

void f(void)
{
    int B[2]:: = {0}, n = 1;
    n++;
}
