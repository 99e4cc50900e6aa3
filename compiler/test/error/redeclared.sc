extern int *global g;
int *spread g;
int *global f(int *global a);
int *global f(int *spread a)
{
    return 0;
}
int A[3]::;
int A[3]::[2];
int B;
typedef int B;
