int x, *p;
int *global g = &x;
static struct {
    int n;
    int *global where;
} s = {1, &x};
int *spread none = 0;
int A[4]::, *spread B[4]::;
int *spread table[2] = {A, A + 1};
int *spread from_element = B[1];

int f(void)
{
    static int *global h = &x;
    static int *spread moved = A + 1;
    int *global fine = &x;
    return *h + *fine;
}
