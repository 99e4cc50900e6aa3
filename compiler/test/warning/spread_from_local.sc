void use(int *spread p);
int *spread keep;

void f(int *p, int n, int a[])
{
    use(p);
    keep = &n;
    keep = a;
    int *spread nothing = (void *)0, *spread meant = (int *spread)p;
    int *global mine = p; // this is (MYPROC, p)
    keep = nothing ? meant : 0;
    (void)mine;
}
