int x, *p;
int *global g = &x;
static struct {
    int n;
    int *global where;
} s = {1, &x};
int *spread none = 0;

int f(void)
{
    static int *global h = &x;
    int *global fine = &x;
    return *h + *fine;
}
