extern int *global g;
int *global g;
int *global g = 0;
extern int A[3]::;
int A[3]::;
int f(int *global a);
int f(int *global a)
{
    int a2, *global a;
    double a;
    return 0;
}
