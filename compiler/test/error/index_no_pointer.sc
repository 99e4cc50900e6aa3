int f(int n, int A[3][4]::, struct { int a; } s)
{
    return n[n] + s[0] + A[1.5][2] + A[1]["x"];
}
