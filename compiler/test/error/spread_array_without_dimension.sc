int A::[4];
int B[2]::[3]::[4];
int f(int n)
{
    int C::;
    return n;
}
